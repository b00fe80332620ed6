import { isObject, type JsonValue } from '../internal/json.js';
import { EXTENSION_PATH } from '../trust/trust-item.js';
import type { ManifestProblem } from './manifest-problem.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** What stands in a text of another program for something of ours. */
export type Replacements = Readonly<Record<string, string>>;

/** A copy of a JSON value with its texts replaced: `${name}` by what `replacements` has for it. */
export function replaceTexts<T extends JsonValue>(value: T, replacements: Replacements): T {
  return mapTexts(value, (text) =>
    text.replace(/\$\{([^${}]+)\}/g, (whole, name: string) =>
      Object.hasOwn(replacements, name) ? (replacements[name] ?? whole) : whole,
    ),
  );
}

/** A copy of a JSON value with another text in the place of each; keys stay. */
export function mapTexts<T extends JsonValue>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change)) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item as JsonValue, change)]),
  ) as T;
}

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
