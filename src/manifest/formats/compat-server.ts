import { isObject, type JsonValue } from '../../internal/json.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { EXTENSION_PATH } from '../../trust/item.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** The servers of a map. What is none is told, but for remarks such as `_comment` and `$schema`. */
export function serversIn(
  map: JsonValue | undefined,
  path: string,
  warnings: ManifestProblem[],
): readonly (readonly [string, JsonObject])[] {
  if (map === undefined) return [];
  if (!isObject(map)) {
    warnings.push({ path, message: 'it is no map of servers, and is passed over' });
    return [];
  }
  return Object.entries(map).flatMap(([name, server]) => {
    if (isObject(server)) return [[name, server as JsonObject] as const];
    if (!/^[_$/]/.test(name)) warnings.push({ path: `${path}.${name}`, message: 'it is no server, and is left out' });
    return [];
  });
}

/** A server of another program's map: its folder is relative to the extension, and it need not list arguments. */
export function compatServer(server: JsonObject): JsonObject {
  const { cwd, ...rest } = server;
  const isRemote = rest.url !== undefined || rest.httpUrl !== undefined;
  return {
    ...rest,
    ...(rest.args === undefined && !isRemote && { args: [] }),
    ...(typeof cwd === 'string' && { cwd: relativeToExtension(cwd) }),
  };
}

/** `${extensionPath}/bin` is `./bin`: whoever reads it knows what it is relative to. */
export function relativeToExtension(path: string): string {
  return path.startsWith(EXTENSION_PATH) ? `.${path.slice(EXTENSION_PATH.length)}` : path;
}
