import type { Group, Item, Lane } from './story.js';

/** A mutable version of a type, for a value that is still being built. */
type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** A lane of the timeline to which items are still added. */
export type LaneDraft = Omit<Lane, 'items' | 'group'> & { readonly group: GroupDraft; readonly items: ItemDraft[] };

/** An item of the timeline that may not have ended yet. */
export type ItemDraft = Omit<Draft<Item>, 'lane'> & { readonly lane: LaneDraft };

/** A group of lanes to which lanes are still added. */
export interface GroupDraft extends Omit<Group, 'lanes' | 'parent'> {
  readonly parent: LaneDraft | undefined;
  lanes: LaneDraft[];
}

/** Creates the groups and lanes of the timeline, each once. */
export class Lanes {
  readonly groups = new Map<string, GroupDraft>();

  /**
   * Returns the group of an agent. `parent` is the lane of the tool that started its nested runs, or undefined for the
   * outermost run.
   */
  group(agent: string, parent: LaneDraft | undefined): GroupDraft {
    const key = parent === undefined ? agent : `${parent.group.key}\n${parent.name}\n${agent}`;
    const depth = parent === undefined ? 0 : parent.group.depth + 1;
    const group = this.groups.get(key) ?? { key, agent, depth, parent, lanes: [] };
    this.groups.set(key, group);
    return group;
  }

  lane(group: GroupDraft, kind: Lane['kind'], name: string): LaneDraft {
    const known = group.lanes.find((lane) => lane.kind === kind && lane.name === name);
    if (known !== undefined) return known;
    const lane = { kind, name, group, items: [] };
    group.lanes.push(lane);
    return lane;
  }

  /**
   * Returns the groups in the order in which the page shows them, with their lanes in order. `order` lists the names of
   * the lifecycles.
   */
  inOrder(order: readonly string[]): GroupDraft[] {
    const place = ({ kind, name }: LaneDraft) => KINDS.indexOf(kind) * 10_000 + order.indexOf(name);
    for (const group of this.groups.values()) group.lanes.sort((a, b) => place(a) - place(b));
    const below = (parent: LaneDraft | undefined): GroupDraft[] =>
      [...this.groups.values()]
        .filter((group) => group.parent === parent)
        .flatMap((group) => [group, ...group.lanes.filter(({ kind }) => kind === 'tool').flatMap(below)]);
    return below(undefined);
  }
}

const KINDS: readonly Lane['kind'][] = ['turns', 'lifecycle', 'model', 'context', 'tool'];
