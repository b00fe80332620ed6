import { isObject, type JsonValue } from '../../internal/json.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { EXTENSION_PATH } from '../../trust/item.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

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
  return {
    ...rest,
    ...(rest.args === undefined && !isRemote && { args: [] }),
    ...(typeof cwd === 'string' && { cwd: relativeToExtension(cwd) }),
  };
}

/** Converts `${extensionPath}/bin` to `./bin`. */
export function relativeToExtension(path: string): string {
  return path.startsWith(EXTENSION_PATH) ? `.${path.slice(EXTENSION_PATH.length)}` : path;
}
