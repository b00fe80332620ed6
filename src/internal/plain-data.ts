/** Returns a deep copy of plain objects, arrays and bytes, without recursion. All other values are shared. */
export function cloneData<T>(value: T): T {
  return copyInto(value, new Map());
}

/** Returns a deep copy like `cloneData`, with every object and array frozen. */
export function freezeData<T>(value: T): T {
  const copies = new Map<object, object>();
  const copy = copyInto(value, copies);
  for (const made of copies.values()) Object.freeze(made);
  return copy;
}

function copyInto<T>(value: T, copies: Map<object, object>): T {
  const open: [from: object, to: object][] = [];
  const copyOf = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    // `Buffer.slice` would return a view of the same bytes.
    if (part instanceof Uint8Array) return Uint8Array.prototype.slice.call(part);
    const known = copies.get(part);
    if (known !== undefined) return known;
    const made = emptyLike(part);
    if (made === undefined) return part;
    copies.set(part, made);
    open.push([part, made]);
    return made;
  };
  const root = copyOf(value);
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) fill(pair, copyOf);
  return root as T;
}

/** True if two values hold equal data. May return false for equal values if an object occurs twice in one of them. */
export function isSameData(a: unknown, b: unknown): boolean {
  const open: [unknown, unknown][] = [[a, b]];
  const seen = new Set<unknown>();
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (Object.is(left, right)) continue;
    if (!isObject(left) || !isObject(right) || seen.has(left)) return false;
    const kind = kindOf(left);
    if (kind === undefined || kind !== kindOf(right)) return false;
    seen.add(left);
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length || keys.some((key) => !Object.hasOwn(right, key))) return false;
    for (const key of keys) open.push([left[key], right[key]]);
  }
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** True for an object literal or an object without a prototype, also from another realm such as a test runner's. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Returns the member names to check for spelling mistakes. For a plain object these are all keys. For a class instance,
 * which may have further members, these are the names that match `pattern`, including methods.
 */
export function suspectNames(value: object, pattern: RegExp): string[] {
  if (isPlainObject(value)) return Object.keys(value);
  const names = new Set<string>();
  for (let level: object | null = value; level !== null; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name);
  }
  return [...names].filter((name) => pattern.test(name));
}

/** Returns the kind of a value whose data is fully in its own members, and undefined for any other value. */
function kindOf(value: object): 'bytes' | 'list' | 'plain' | undefined {
  if (value instanceof Uint8Array) return 'bytes';
  if (Array.isArray(value)) return 'list';
  return isPlainObject(value) ? 'plain' : undefined;
}

function emptyLike(value: object): object | undefined {
  if (Array.isArray(value)) return [];
  if (!isPlainObject(value)) return undefined;
  return Object.getPrototypeOf(value) === null ? Object.create(null) : {};
}

function fill([from, to]: readonly [object, object], copyOf: (part: unknown) => unknown): void {
  if (Array.isArray(from)) {
    for (const item of from) (to as unknown[]).push(copyOf(item));
    return;
  }
  for (const [key, part] of Object.entries(from)) setOwn(to as Record<string, unknown>, key, copyOf(part));
}

/**
 * Assigns a member, but defines it if the name is inherited: `__proto__` is a setter, and inherited members may be
 * frozen. Defining every member would take four times as long.
 */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (!(key in target)) target[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
