/** A fact about a program with the URL of the page that states it, or `unknown`, which takes the safe side. */
export type Cell<Value> = { readonly value: Value; readonly source: string } | 'unknown';

/** Returns a function that makes cells with this source. */
export function from(source: string) {
  return <const Value>(value: Value) => ({ value, source });
}

/** Returns the value of a cell. `safe` is the value on the safe side. */
export function known<Value>(cell: Cell<Value> | undefined, safe: Value): Value {
  return cell === undefined || cell === 'unknown' ? safe : cell.value;
}
