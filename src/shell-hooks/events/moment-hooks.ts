import { hookRunOf, type Moment } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { APPROVAL, idsOf, transcriptOf } from './event-fields.js';
import type { HookParts } from './parts.js';

type ApprovalMoment = Extract<Moment, { kind: 'approval' }>;

/** Runs the `notification` and `before_compaction` hooks at the moments of a run, after those of earlier loaders. */
export function watchMoments(run: RunContext, events: ReadonlySet<HookEvent>, parts: HookParts): void {
  if (!events.has('notification') && !events.has('before_compaction')) return;
  const handle = async (moment: Moment, earlier: Promise<boolean> | undefined) => {
    if ((await earlier) === false) return false;
    if (moment.kind === 'compaction') return beforeCompaction(run, parts);
    await notify(run, moment, parts);
    return true;
  };
  const hookRun = hookRunOf(run);
  if (hookRun === undefined) return;
  const { onMoment } = hookRun;
  hookRun.onMoment = (moment) => {
    const handling = handle(moment, onMoment?.(moment));
    return moment.kind === 'approval' ? tracked(handling, parts) : handling;
  };
}

/** Keeps a promise in `parts.notices` until it settles. */
function tracked<Value>(work: Promise<Value>, { notices }: HookParts): Promise<Value> {
  notices.add(work);
  return work.finally(() => notices.delete(work));
}

/** Runs the `notification` hooks for a question for approval. A cancellation has no effect. */
async function notify(run: RunContext, { tool, reason }: ApprovalMoment, parts: HookParts): Promise<void> {
  const { runner, pending, logger } = parts;
  const fields = { message: reason, title: 'Approval', notification_type: APPROVAL };
  const outcome = await runner.runEvent({
    event: 'notification',
    ...idsOf(run),
    value: undefined,
    source: APPROVAL,
    describe: () => ({ data: { ...fields, tool_name: tool }, flat: fields }),
  });
  pending.keep(run.session?.id, outcome.modelTexts);
  const { cancelledBy: hookName } = outcome;
  if (hookName === undefined) return;
  const message = `Hook "${hookName}" cancelled notification. This has no effect: the question for approval stays.`;
  logger.warn(message, { hookName, reason: outcome.reason });
}

/** Runs the `before_compaction` hooks. Returns false if a hook cancels the compaction. */
async function beforeCompaction(run: RunContext, parts: HookParts): Promise<boolean> {
  const fields = { trigger: 'auto', custom_instructions: '' };
  const outcome = await parts.runner.runEvent({
    event: 'before_compaction',
    ...idsOf(run),
    value: undefined,
    source: 'auto',
    transcript: transcriptOf(run, parts.runs.of(run)),
    describe: () => ({ data: { trigger: 'auto' }, flat: fields }),
    signal: parts.runs.of(run).signalOf(run),
  });
  parts.pending.keep(run.session?.id, outcome.modelTexts);
  return !outcome.cancelled;
}
