/** Enough to not wait for a disk or a network, few enough to leave room for others. */
const AT_ONCE = 8;

/** What `work` gives for each item, as they are done: some are under way at once. After a failure no other is begun. */
export async function mapConcurrent<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = each(items);
  const worker = async () => {
    for (const item of queue) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** A generator, and no iterator of a list: a loop that throws ends it for all. */
function* each<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items;
}
