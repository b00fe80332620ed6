/**
 * A fact about a program, with the URLs of the pages that state it. A cell is `unknown` if no page states the fact.
 * `known` then returns a safe value.
 */
export type Cell<Value> = { readonly value: Value; readonly sources: readonly string[] } | 'unknown';

/** Returns a function that makes cells with these sources. */
export function from(...sources: readonly string[]) {
  return <const Value>(value: Value) => ({ value, sources });
}

/** Returns the value of a cell, or `safe` if the fact is unknown. */
export function known<Value>(cell: Cell<Value> | undefined, safe: Value): Value {
  return cell === undefined || cell === 'unknown' ? safe : cell.value;
}
