import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import type { LeveledProblem } from '../../internal/problem.js';
import { resolveInside } from '../../process/files/relative-path.js';
import { EXTENSION_PATH } from '../../trust/item.js';
import type { ManifestContent } from '../extension.js';
import { type HookDocument, readHooks } from './compat-hooks.js';
import type { Format, ManifestPlace, ManifestReading } from './format.js';
import { type Report, reportUnsupported } from './keys.js';
import { namedSchema } from './native-schema.js';
import { parseAs } from './schema-issue.js';
import { type JsonDocument, lossesOf, readJsonFile } from './strict-json.js';

/** A manifest of another program, and its directory. */
export interface CompatFolder extends ManifestPlace {
  readonly manifest: JsonObject;
  /** Reads a JSON file of the directory. Resolves to undefined if the file is missing. */
  readonly readJson: (path: string) => Promise<JsonValue | undefined>;
  readonly report: Report;
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
): Promise<ManifestReading> {
  const { value } = document;
  const problems: LeveledProblem[] = [];
  const report: Report = (level, path, message) => problems.push({ level, path, message });
  const named = parseAs(namedSchema, value);
  const refusals = 'problems' in named ? named.problems : [];
  for (const { path, message } of [...lossesOf(document), ...refusals]) {
    report(refusals.length > 0 ? 'error' : 'warning', path, message);
  }
  if ('problems' in named) return { problems };
  const { name, version, description } = named.data;
  const { root } = place;
  const isVersion = typeof version === 'string' && version !== '';
  if (!isVersion) report('info', 'version', 'it is missing, so 0.0.0 is used');
  const readJson = (path: string) => readPart(root, path, (...problem) => report('warning', ...problem));
  const compat = await readFolder({ ...place, manifest: value, readJson, report });
  const documents: HookDocument[] = [];
  for (const path of new Set(compat.hookFiles)) {
    documents.push({ path, value: await readPart(root, path, (...problem) => report('error', ...problem)) });
  }
  for (const inline of compat.inlineHooks) documents.push({ path: 'hooks', value: inline });
  const owner = { dialect, hasData, extension: name, settings: compat.content.settings, report };
  const { hooks, unreadGuards } = readHooks(owner, documents);
  const reported = problems.filter((problem) => problem.level !== 'error').map(({ path }) => path);
  // The manifest may have a key with the name of the file or directory.
  for (const path of compat.unsupported.filter((part) => !reported.includes(part))) {
    if (await resolveInside(root, path)) reportUnsupported(path, report);
  }
  return {
    problems,
    content: {
      ...compat.content,
      name,
      version: isVersion ? version : '0.0.0',
      description: typeof description === 'string' ? description : '',
      hooks,
      unreadGuards: unreadGuards.length > 0 ? unreadGuards : undefined,
    },
  };
}

/** Reads a JSON file. Reports duplicate and forbidden keys, and a file that exists but cannot be read. */
async function readPart(root: string, path: string, report: (path: string, message: string) => void) {
  const parsed = await readJsonFile(root, path);
  if (parsed === undefined) return undefined;
  const found = 'value' in parsed ? lossesOf(parsed) : parsed.problems;
  for (const { path: inner, message } of found) report(`${path} ${inner}`.trim(), message);
  return 'value' in parsed ? parsed.value : undefined;
}

/**
 * Returns the servers of an object. Reports other values, except under comment keys such as `_comment` and `$schema`.
 */
export function serversIn(
  map: JsonValue | undefined,
  path: string,
  report: Report,
): readonly (readonly [string, JsonObject])[] {
  if (map === undefined) return [];
  if (!isObject(map)) {
    report('warning', path, 'it must be an object of servers, so it is ignored');
    return [];
  }
  return Object.entries(map).flatMap(([name, server]) => {
    if (isObject(server)) return [[name, server as JsonObject] as const];
    if (!/^[_$/]/.test(name)) report('warning', `${path}.${name}`, 'a server must be an object, so it is ignored');
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
