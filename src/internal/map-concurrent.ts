/** The default concurrency: hides the latency of disks and networks without starving other work. */
const AT_ONCE = 8;

/**
 * Calls `work` for each item, at most `atOnce` at a time. Returns the results in the order of the items.
 * After a failure no further item is started.
 */
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

/**
 * A generator rather than an array iterator, because an exception in one worker's loop closes the generator for all
 * workers.
 */
function* numbered<Item>(items: Iterable<Item>): Generator<[at: number, item: Item]> {
  let at = 0;
  for (const item of items) yield [at++, item];
}
