import { nestedEvents } from '../history/replay.js';
import type { ShownStep } from '../history/shown.js';
import type { NestedPart } from './nested-part.js';
import { type NestedPage, NestedRuns } from './nested-runs.js';

/** Returns the parts for the stored nested runs of a step, in their final state. */
export function nestedParts({ nested, results }: ShownStep, page: NestedPage): readonly NestedPart[] {
  if (nested.length === 0) return [];
  const parts = new Map<string, NestedPart>();
  const runs = new NestedRuns(page, (part) => parts.set(part.id, part));
  for (const run of nested) {
    const isOpen = !results.has(run.path.at(-1) ?? '');
    for (const event of nestedEvents(run, isOpen)) runs.read(event, event.path ?? []);
  }
  for (const [callId, { part }] of results) runs.cut([callId], part.isError);
  return [...parts.values()];
}
