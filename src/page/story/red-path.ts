import type { Cause, Finding } from '../../trace/explain/finding.js';
import type { Item, Lane, Story } from './story.js';

/**
 * Returns the items that lead from the effect of a finding to its cause. Starts with the tool calls of the outer runs
 * that enclose the effect.
 */
export function redPath(story: Story, { records, by }: Finding): readonly Item[] {
  const shown = [...records].reverse().flatMap((index) => story.itemOf.get(index) ?? []);
  const [effect] = shown;
  if (effect === undefined) return [];
  const path = [...callersOf(story, effect), ...shown];
  const cause = by && causeItem(path, by);
  const unique = new Set(cause === undefined ? path : [...path, cause]);
  return [...unique];
}

/** Returns the tool calls that enclose the run of an item, outermost first. */
function callersOf({ callers }: Story, { runId }: Item): readonly Item[] {
  const found: Item[] = [];
  for (let caller = callers.get(runId); caller !== undefined; caller = callers.get(caller.runId)) found.unshift(caller);
  return found;
}

/**
 * Returns the last item of the cause that started before an item of `path` ended, in the same run or in an outer run.
 * Returns undefined if `path` already contains an item of the cause.
 */
function causeItem(path: readonly Item[], { kind, name }: Cause): Item | undefined {
  const isOfCause = (lane: Lane) => lane.kind === kind && lane.name === name;
  if (path.some(({ lane }) => isOfCause(lane))) return undefined;
  for (const { lane, to } of [...path].reverse()) {
    const last = lane.group.lanes.find(isOfCause)?.items.findLast((item) => item.from <= to);
    if (last !== undefined) return last;
  }
  return undefined;
}
