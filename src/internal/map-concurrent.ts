/** Enough to not wait for a disk or a network, few enough to leave room for others. */
const AT_ONCE = 8;

/** Returns the results in the order of the items; at most `atOnce` are under way. Begins no other after a failure. */
export async function mapConcurrent<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  atOnce: number = AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = numbered(items);
  const worker = async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** A generator, and no iterator of a list: a loop that throws ends it for all. */
function* numbered<Item>(items: Iterable<Item>): Generator<[at: number, item: Item]> {
  let at = 0;
  for (const item of items) yield [at++, item];
}
