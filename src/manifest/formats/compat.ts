import { isObject, type JsonValue } from '../../internal/json.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { resolveInside } from '../../process/files/relative-path.js';
import { EXTENSION_PATH } from '../../trust/item.js';
import type { ManifestContent } from '../extension.js';
import { type HookDocument, readHooks } from './compat-hooks.js';
import type { Format, ManifestPlace, ReadManifest } from './format.js';
import { type ProblemLists, reportUnsupported } from './keys.js';
import { namedSchema } from './native-schema.js';
import { problemsOfIssues } from './schema-issue.js';
import { type JsonDocument, readJsonFile } from './strict-json.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** A manifest of another program, and its directory. */
export interface CompatFolder extends ManifestPlace {
  readonly manifest: JsonObject;
  /** Reads a JSON file of the directory. Resolves to undefined if the file is missing. */
  readonly readJson: (path: string) => Promise<JsonValue | undefined>;
  /** Receives the problems. */
  readonly problems: ProblemLists;
}

/** The content of another program's manifest. */
export interface CompatManifest {
  readonly content: Omit<ManifestContent, 'name' | 'version' | 'description' | 'hooks'>;
  /** Hook files, relative to the extension. `inlineHooks` are the hooks in the manifest itself. */
  readonly hookFiles: readonly string[];
  readonly inlineHooks: readonly JsonValue[];
  /** Files and directories of parts that Keelson does not support. Each of them that exists is reported. */
  readonly unsupported: readonly string[];
}

/** The manifest format of another program. */
export interface CompatFormat extends Format {
  /** Reads the manifest and the files that it names. An invalid entry is left out with a warning. */
  readonly readFolder: (folder: CompatFolder) => CompatManifest | Promise<CompatManifest>;
}

/**
 * Converts another program's manifest to the content of a native manifest. An invalid entry is left out, and the other
 * entries are kept.
 */
export async function readCompatManifest(
  document: JsonDocument,
  place: ManifestPlace,
  { id: dialect, hasDataFolder: hasData, readFolder }: CompatFormat,
): Promise<ReadManifest> {
  const { value } = document;
  const lost = document.lost.map(({ path, message }) => ({ path, message }));
  const named = namedSchema.safeParse(value);
  if (!named.success) return { problems: [...lost, ...problemsOfIssues(named.error.issues, value)] };
  const { name, version, description } = named.data;
  const { root } = place;
  const problems: ProblemLists = { errors: [], warnings: [...lost], notes: [] };
  const isVersion = typeof version === 'string' && version !== '';
  if (!isVersion) problems.notes.push({ path: 'version', message: 'it is missing, so 0.0.0 is used' });
  const readJson = (path: string) => readInto(root, path, problems.warnings);
  const compat = await readFolder({ ...place, manifest: value, readJson, problems });
  const documents: HookDocument[] = [];
  for (const path of new Set(compat.hookFiles)) {
    documents.push({ path, value: await readInto(root, path, problems.errors) });
  }
  for (const inline of compat.inlineHooks) documents.push({ path: 'hooks', value: inline });
  const owner = { dialect, hasData, extension: name, settings: compat.content.settings, problems };
  const { hooks, unreadGuards } = readHooks(owner, documents);
  await reportParts(compat.unsupported, root, problems);
  return {
    content: {
      ...compat.content,
      name,
      version: isVersion ? version : '0.0.0',
      description: typeof description === 'string' ? description : '',
      hooks,
      unreadGuards: unreadGuards.length > 0 ? unreadGuards : undefined,
    },
    ...problems,
  };
}

/** Reports each unsupported file or directory that exists, unless the manifest has a key with the same name. */
async function reportParts(unsupported: readonly string[], root: string, problems: ProblemLists): Promise<void> {
  const known = [...problems.warnings, ...problems.notes].map(({ path }) => path);
  for (const path of unsupported) {
    if (!known.includes(path) && (await resolveInside(root, path))) reportUnsupported(path, problems);
  }
}

/** Reads a JSON file. Reports duplicate and forbidden keys, and a file that exists but cannot be read. */
async function readInto(root: string, path: string, problems: ManifestProblem[]): Promise<JsonValue | undefined> {
  const parsed = await readJsonFile(root, path);
  if (parsed === undefined) return undefined;
  const found = 'value' in parsed ? parsed.lost : parsed.problems;
  problems.push(...found.map(({ path: inner, message }) => ({ path: `${path} ${inner}`.trim(), message })));
  return 'value' in parsed ? parsed.value : undefined;
}

/**
 * Returns the servers of an object. Reports other values, except under comment keys such as `_comment` and `$schema`.
 */
export function serversIn(
  map: JsonValue | undefined,
  path: string,
  warnings: ManifestProblem[],
): readonly (readonly [string, JsonObject])[] {
  if (map === undefined) return [];
  if (!isObject(map)) {
    warnings.push({ path, message: 'it must be an object of servers, so it is ignored' });
    return [];
  }
  return Object.entries(map).flatMap(([name, server]) => {
    if (isObject(server)) return [[name, server as JsonObject] as const];
    if (!/^[_$/]/.test(name))
      warnings.push({ path: `${path}.${name}`, message: 'a server must be an object, so it is ignored' });
    return [];
  });
}

/** Converts a server of another program's manifest: adds missing `args`, and makes `cwd` relative to the extension. */
export function compatServer(server: JsonObject): JsonObject {
  const { cwd, ...rest } = server;
  const isRemote = rest.url !== undefined || rest.httpUrl !== undefined;
  const converted: Record<string, JsonValue> = { ...rest };
  if (rest.args === undefined && !isRemote) converted.args = [];
  if (typeof cwd === 'string') converted.cwd = relativeToExtension(cwd);
  return converted;
}

/** Converts `${extensionPath}/bin` to `./bin`. */
export function relativeToExtension(path: string): string {
  return path.startsWith(EXTENSION_PATH) ? `.${path.slice(EXTENSION_PATH.length)}` : path;
}
