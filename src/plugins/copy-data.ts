/**
 * A copy of plain objects and arrays, at any depth and with cycles; anything else in them is shared. `structuredClone`
 * takes neither functions nor great depth.
 */
export function copyData<T>(value: T): T {
  const copies = new Map<object, object>();
  const open: object[] = [];
  const copyOf = (given: unknown): unknown => {
    if (!isPlain(given)) return given;
    const known = copies.get(given);
    if (known !== undefined) return known;
    const copy = Array.isArray(given) ? [] : {};
    copies.set(given, copy);
    open.push(given);
    return copy;
  };
  const result = copyOf(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) fill(copies.get(next) as object, next, copyOf);
  return result as T;
}

/** Whether a value is a list, or an object of no class. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function fill(copy: object, from: object, copyOf: (value: unknown) => unknown): void {
  if (Array.isArray(from)) {
    for (const item of from) (copy as unknown[]).push(copyOf(item));
    return;
  }
  for (const [key, value] of Object.entries(from)) {
    // An assignment to `__proto__` would change what the copy inherits from.
    Object.defineProperty(copy, key, { value: copyOf(value), writable: true, enumerable: true, configurable: true });
  }
}
