import { isObject, type JsonValue } from '../../internal/json.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { resolveInside } from '../../process/files/relative-path.js';
import { EXTENSION_PATH } from '../../trust/item.js';
import type { ManifestContent } from '../extension.js';
import { type HookDocument, readHooks } from './compat-hooks.js';
import type { Format, ManifestPlace, ReadManifest } from './format.js';
import { reportUnsupported } from './keys.js';
import { namedSchema } from './native-schema.js';
import { problemsOfIssues } from './schema-issue.js';
import { type JsonDocument, readJsonFile } from './strict-json.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** A manifest of another program, and its directory. */
export interface CompatFolder extends ManifestPlace {
  readonly manifest: JsonObject;
  /** Reads a JSON file of the directory. Resolves to undefined if the file is missing. */
  readonly readJson: (path: string) => Promise<JsonValue | undefined>;
}

/** The content of another program's manifest, with its problems. */
export interface CompatManifest {
  readonly content: Omit<ManifestContent, 'name' | 'version' | 'description' | 'hooks'>;
  /** Hook files, relative to the extension. `inlineHooks` are the hooks in the manifest itself. */
  readonly hookFiles: readonly string[];
  readonly inlineHooks: readonly JsonValue[];
  /** Files and directories of parts that Keelson does not support. The existing ones are reported. */
  readonly unsupported: readonly string[];
  /** Ignored hooks. These are errors, because a missing guard looks like a guard that has nothing to block. */
  readonly errors: readonly ManifestProblem[];
  readonly warnings: readonly ManifestProblem[];
  readonly notes: readonly ManifestProblem[];
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
  const files = new JsonFiles(root);
  const compat = await readFolder({ ...place, manifest: value, readJson: (path) => files.read(path) });
  const { hooks, lostGuards, errors, warnings } = await readHooks(
    { dialect, hasData, extension: name, settings: compat.content.settings },
    await hookDocuments(compat, files),
  );
  const parts = await unsupportedParts(compat, root);
  const isVersion = typeof version === 'string' && version !== '';
  const noVersion = { path: 'version', message: 'it is missing, so 0.0.0 is used' };
  return {
    content: {
      ...compat.content,
      name,
      version: isVersion ? version : '0.0.0',
      description: typeof description === 'string' ? description : '',
      hooks,
      lostGuards: lostGuards.length > 0 ? lostGuards : undefined,
    },
    errors: [...compat.errors, ...errors, ...parts.errors],
    warnings: [...lost, ...files.warnings, ...compat.warnings, ...warnings, ...parts.warnings],
    notes: [...(isVersion ? [] : [noVersion]), ...compat.notes, ...parts.notes],
  };
}

async function hookDocuments({ hookFiles, inlineHooks }: CompatManifest, files: JsonFiles) {
  const documents: HookDocument[] = [];
  for (const path of new Set(hookFiles)) {
    const problems: ManifestProblem[] = [];
    const value = await files.read(path, problems);
    documents.push({ path, value, problems });
  }
  return [...documents, ...inlineHooks.map((value) => ({ path: 'hooks', value, problems: [] }))];
}

/** Reports each existing part, unless a key of the manifest has the same name. */
async function unsupportedParts({ unsupported, warnings, notes }: CompatManifest, root: string) {
  const known = [...warnings, ...notes].map(({ path }) => path);
  const parts = unsupported.filter((path) => !known.includes(path));
  const found = await Promise.all(parts.map(async (path) => ((await resolveInside(root, path)) ? [path] : [])));
  const problems: Record<'errors' | 'warnings' | 'notes', ManifestProblem[]> = { errors: [], warnings: [], notes: [] };
  for (const path of found.flat()) reportUnsupported(path, problems);
  return problems;
}

/** Reads further JSON files of an extension package. An existing file that cannot be read is a problem. */
class JsonFiles {
  readonly warnings: ManifestProblem[] = [];

  constructor(private readonly root: string) {}

  /** Adds duplicate and forbidden keys, and the problems of an unreadable file, to `problems`. Default: `warnings`. */
  async read(path: string, problems = this.warnings): Promise<JsonValue | undefined> {
    const parsed = await readJsonFile(this.root, path);
    if (parsed === undefined) return undefined;
    const found = 'value' in parsed ? parsed.lost : parsed.problems;
    problems.push(...found.map(({ path: inner, message }) => ({ path: `${path} ${inner}`.trim(), message })));
    return 'value' in parsed ? parsed.value : undefined;
  }
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
