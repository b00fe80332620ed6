/** The differences between two lists of items, by name, in the order of the later list. */
export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
}

/** A named item, and a string that changes whenever the item changes. */
export interface ComparedItem {
  readonly name: string;
  /** Tells items of the same name apart. Default: the name. */
  readonly identity?: string | undefined;
  readonly content: string;
}

/**
 * Compares two lists of items. If several items have the same identity, the first is compared with the first, the
 * second with the second, and so on.
 */
export function changesBetween(before: readonly ComparedItem[], after: readonly ComparedItem[]): Changes {
  const left = [...before];
  const added: string[] = [];
  const changed: string[] = [];
  const unchanged: string[] = [];
  const take = (isWanted: (item: ComparedItem) => boolean) => {
    const at = left.findIndex(isWanted);
    return at < 0 ? undefined : left.splice(at, 1)[0];
  };
  // Pairs equal items first, so that an item inserted before an equal one counts as the added item.
  const others = after.filter((item) => {
    const same = take((other) => identityOf(other) === identityOf(item) && other.content === item.content);
    if (same !== undefined) unchanged.push(item.name);
    return same === undefined;
  });
  for (const item of others) {
    const earlier = take((other) => identityOf(other) === identityOf(item));
    (earlier === undefined ? added : changed).push(item.name);
  }
  return { added, removed: left.map(({ name }) => name), changed, unchanged };
}

/** Joins the changes of several groups of items. A name is unchanged only if no group has changed it. */
export function joinChanges(groups: readonly Changes[]): Changes {
  const all = (kind: keyof Changes) => [...new Set(groups.flatMap((group) => group[kind]))];
  const [added, removed, changed] = [all('added'), all('removed'), all('changed')];
  const touched = new Set([...added, ...removed, ...changed]);
  return { added, removed, changed, unchanged: all('unchanged').filter((name) => !touched.has(name)) };
}

function identityOf({ identity, name }: ComparedItem): string {
  return identity ?? name;
}
