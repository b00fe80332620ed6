/**
 * Returns the positions of the messages that a transcript lacks. `written` are the keys of the messages that the session
 * had at the last write, and `keys` those that it has now. A compaction replaces earlier messages and keeps some of
 * them, in their order.
 */
export function missingMessages(written: readonly string[], keys: readonly string[]): readonly number[] {
  const changed = keys.findIndex((key, at) => key !== written[at]);
  if (changed < 0) return [];
  const kept = new Set(keptMessages(written.slice(changed), keys.slice(changed)).map((at) => at + changed));
  return [...keys.keys()].slice(changed).filter((at) => !kept.has(at));
}

/**
 * Returns the positions in `keys` of messages that are also in `written`. None is kept without the last one of `written`:
 * otherwise a new prompt with the text of an earlier one would count as written.
 */
function keptMessages(written: readonly string[], keys: readonly string[]): readonly number[] {
  let last = -1;
  let longest = 0;
  for (const at of keys.keys()) {
    const length = tailLength(written, keys, at);
    if (length > longest) [last, longest] = [at, length];
  }
  const kept: number[] = [];
  let end = written.length - 1;
  for (let at = last; at >= 0 && end >= 0; at -= 1) {
    const found = written.lastIndexOf(keys[at] as string, end);
    if (found < 0) continue;
    kept.push(at);
    end = found - 1;
  }
  return kept;
}

/** Returns how many messages up to the position `last` are the last messages of `written`. */
function tailLength(written: readonly string[], keys: readonly string[], last: number): number {
  let length = 0;
  while (length < written.length && length <= last && written.at(-1 - length) === keys[last - length]) length += 1;
  return length;
}
