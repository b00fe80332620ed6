import type { RunContext } from '../run-context.js';
import { hookRunOf } from './hook-run.js';

/** A moment inside of a ready-made lifecycle. */
export type Moment =
  | { readonly kind: 'approval'; readonly tool: string; readonly reason: string }
  | { readonly kind: 'compaction' };

/**
 * Handles a moment of a run. `earlier` is the result of the handlers before it. Before a compaction, false prevents the
 * compaction.
 */
export type MomentHandler = (moment: Moment, earlier: Promise<boolean> | undefined) => Promise<boolean>;

/** A global symbol, because each entry of the package has its own copy of this module. */
const MOMENTS = Symbol.for('keelson.moments');

/** Calls `handler` at the moments of a run. It must await `earlier`, so that handlers run one after another. */
export function handleMoments(run: RunContext, handler: MomentHandler): void {
  const hookRun = hookRunOf(run) as { [MOMENTS]?: (moment: Moment) => Promise<boolean> } | undefined;
  const earlier = hookRun?.[MOMENTS];
  if (hookRun !== undefined) hookRun[MOMENTS] = (moment) => handler(moment, earlier?.(moment));
}

/** Calls the handlers of a moment. Returns undefined if the run has no handler. */
export function tellMoment(run: object, moment: Moment): Promise<boolean> | undefined {
  return (hookRunOf(run) as { readonly [MOMENTS]?: (moment: Moment) => Promise<boolean> } | undefined)?.[MOMENTS]?.(
    moment,
  );
}
