import type { Group, Lane, Story } from '../../story/story.js';

/** A row of the timeline that is not folded. `top` and `height` are in pixels. */
export interface Row {
  readonly lane: Lane;
  readonly top: number;
  readonly height: number;
}

const HEIGHTS: Readonly<Record<Lane['kind'], number>> = { turns: 32, lifecycle: 22, model: 26, context: 44, tool: 26 };
/** The height in pixels of the context diagram of nested runs. It is lower, because their contexts are mostly small. */
const INNER_CONTEXT = 20;

/** The height of the time axis above the rows, in pixels. */
export const AXIS_HEIGHT = 22;

/** If the timeline has more rows than this, the rows of nested runs are folded at first. */
const MANY_ROWS = 28;

/** Returns the rows to show. A folded group has only its first row, and the groups below it have none. */
export function rowsOf({ groups }: Story, folded: ReadonlySet<Group>): readonly Row[] {
  const rows: Row[] = [];
  let top = AXIS_HEIGHT;
  for (const group of groups) {
    if (isHidden(group, folded)) continue;
    const lanes = folded.has(group) ? group.lanes.slice(0, 1) : group.lanes;
    for (const lane of lanes) {
      const height = lane.kind === 'context' && group.depth > 0 ? INNER_CONTEXT : HEIGHTS[lane.kind];
      rows.push({ lane, top, height });
      top += height;
    }
  }
  return rows;
}

function isHidden({ parent }: Group, folded: ReadonlySet<Group>): boolean {
  return parent !== undefined && (folded.has(parent.group) || isHidden(parent.group, folded));
}

/** Returns the groups to fold at first: all nested groups of a timeline with many rows. */
export function foldedAtFirst({ groups }: Story): Set<Group> {
  const count = groups.reduce((sum, { lanes }) => sum + lanes.length, 0);
  return new Set(count > MANY_ROWS ? groups.filter(({ depth }) => depth > 0) : []);
}

/** Unfolds a group and the groups that contain it. */
export function unfold(group: Group, folded: Set<Group>): void {
  folded.delete(group);
  if (group.parent !== undefined) unfold(group.parent.group, folded);
}
