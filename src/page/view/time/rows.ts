import type { Group, Lane, Story } from '../../story/story.js';

/** A visible row of the time line. */
export interface Row {
  readonly lane: Lane;
  readonly top: number;
  readonly height: number;
}

const HEIGHTS: Readonly<Record<Lane['kind'], number>> = { turns: 32, lifecycle: 22, model: 26, context: 44, tool: 26 };
/** The height of the context diagram of a nested run, which is mostly small. */
const INNER_CONTEXT = 20;

/** The space above the rows for the times, in pixels. */
export const AXIS_HEIGHT = 22;

/** With more rows than this, nested groups are folded at first. */
const MANY_ROWS = 28;

/** Returns the rows of groups that are not folded. */
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

/** Returns the nested groups to fold at first, so that the rows fit. */
export function foldedAtFirst({ groups }: Story): Set<Group> {
  const count = groups.reduce((sum, { lanes }) => sum + lanes.length, 0);
  return new Set(count > MANY_ROWS ? groups.filter(({ depth }) => depth > 0) : []);
}

/** Unfolds a group and the groups that contain it. */
export function unfold(group: Group, folded: Set<Group>): void {
  folded.delete(group);
  if (group.parent !== undefined) unfold(group.parent.group, folded);
}
