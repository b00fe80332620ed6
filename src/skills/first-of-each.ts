/** Returns the items whose key no earlier item has. Calls `onTaken` with each other item and the earlier one. */
export function firstOfEach<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
  onTaken?: (item: Item, holder: Item) => void,
): Item[] {
  const byKey = new Map<string, Item>();
  for (const item of items) {
    const holder = byKey.get(keyOf(item));
    if (holder === undefined) byKey.set(keyOf(item), item);
    else onTaken?.(item, holder);
  }
  return [...byKey.values()];
}
