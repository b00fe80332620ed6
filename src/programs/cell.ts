/**
 * A fact about another program, such as Claude Code, with the URLs of the pages that state it. It is `unknown` if no
 * page states it. Use `known` to get a safe value then.
 */
export type Cell<Value> = { readonly value: Value; readonly sources: readonly string[] } | 'unknown';

/** Returns a function that creates facts which all have these URLs as their sources. */
export function from(...sources: readonly string[]) {
  return <const Value>(value: Value) => ({ value, sources });
}

/** Returns the value of a fact, or the value `safe` if the fact is unknown. */
export function known<Value>(cell: Cell<Value> | undefined, safe: Value): Value {
  return cell === undefined || cell === 'unknown' ? safe : cell.value;
}
