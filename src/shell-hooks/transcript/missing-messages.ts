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
 * Returns the positions of the messages behind the last written one. `keys` has all messages as people read them, so a
 * transcript never lacks an earlier message.
 */
export function laterMessages(written: readonly string[], keys: readonly string[]): readonly number[] {
  const last = lastWritten(written, keys);
  return missingMessages(written, keys).filter((at) => at > last);
}

/**
 * Returns the position in `all` of the first message that the model still reads. `rest` are the keys of the messages
 * behind the summary, and `all` those of the messages as people read them. Returns the length of `all` if none is read.
 */
export function startOfRest(all: readonly string[], rest: readonly string[]): number {
  let [start, longest] = [all.length, 0];
  for (const at of all.keys()) {
    let length = 0;
    while (length < rest.length && at + length < all.length && all[at + length] === rest[length]) length += 1;
    // The last of several equal parts, since the same prompt may be given again.
    if (length > 0 && length >= longest) [start, longest] = [at, length];
  }
  return start;
}

/**
 * Returns the positions in `keys` of messages that are also in `written`. None is kept without the last one of `written`:
 * otherwise a new prompt with the text of an earlier one would count as written.
 */
function keptMessages(written: readonly string[], keys: readonly string[]): readonly number[] {
  const kept: number[] = [];
  let end = written.length - 1;
  for (let at = lastWritten(written, keys); at >= 0 && end >= 0; at -= 1) {
    const found = written.lastIndexOf(keys[at] as string, end);
    if (found < 0) continue;
    kept.push(at);
    end = found - 1;
  }
  return kept;
}

/** Returns the position in `keys` of the last one of `written`, or -1. Of several, the one with most equal messages before it. */
function lastWritten(written: readonly string[], keys: readonly string[]): number {
  let last = -1;
  let longest = 0;
  for (const at of keys.keys()) {
    const length = tailLength(written, keys, at);
    if (length > longest) [last, longest] = [at, length];
  }
  return last;
}

/** Returns how many messages up to the position `last` are the last messages of `written`. */
function tailLength(written: readonly string[], keys: readonly string[], last: number): number {
  let length = 0;
  while (length < written.length && length <= last && written.at(-1 - length) === keys[last - length]) length += 1;
  return length;
}
