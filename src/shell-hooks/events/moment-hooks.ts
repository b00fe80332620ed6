import { hookRunOf, type Moment } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { HookEvent } from '../../programs/hook-event.js';
import type { HookEventContext } from '../hook/event-context.js';
import { callData, receivedArgs } from '../run/tool-fields.js';
import { type HookParts, idsOf } from './run-state.js';

type CallMoment = Extract<Moment, { call: object }>;

/** The events of each moment, in the order in which they run. */
const EVENTS = {
  approval: ['notification', 'permission_request'],
  denial: ['permission_denied'],
  compaction: ['before_compaction'],
  compacted: ['after_compaction'],
} as const satisfies Readonly<Record<Moment['kind'], readonly HookEvent[]>>;

/** The events of all moments. */
export const MOMENT_EVENTS: readonly HookEvent[] = Object.values(EVENTS).flat();

/** Runs the hooks for the moments of a run, after the hooks of earlier loaders. */
export function watchMoments(run: RunContext, events: ReadonlySet<HookEvent>, parts: HookParts): void {
  const hookRun = hookRunOf(run);
  if (hookRun === undefined) return;
  const { onMoment } = hookRun;
  const handle = async (moment: Moment, earlier: Promise<string | undefined> | undefined) => {
    const refusal = await earlier;
    if (refusal !== undefined) return refusal;
    if (moment.kind === 'compaction') return beforeCompaction(run, parts);
    if (moment.kind === 'approval') {
      if (events.has('notification')) runLater(run, () => notify(run, moment, parts), parts);
      return events.has('permission_request') ? judgeQuestion(run, moment, parts) : undefined;
    }
    const [event] = EVENTS[moment.kind];
    const context = moment.kind === 'denial' ? callContext(event, run, moment) : compactionContext(event, run);
    if (events.has(event)) runLater(run, () => runNotice(context, run, parts), parts);
    return undefined;
  };
  hookRun.onMoment = (moment) => handle(moment, onMoment?.(moment));
}

/** The promise of the last notice of each run. The next notice waits for it. */
const latest = new WeakMap<RunContext, Promise<void>>();

/** Runs the hooks of a notice after the earlier notices of the run. The run does not wait for the hooks. */
function runLater(run: RunContext, notice: () => Promise<void>, { notices }: HookParts): void {
  const work = (latest.get(run) ?? Promise.resolve()).then(notice);
  latest.set(run, work);
  notices.add(work);
  void work.finally(() => notices.delete(work));
}

/** Runs the `notification` hooks for a question for approval. A cancellation has no effect. */
async function notify(run: RunContext, { call, reason }: CallMoment, parts: HookParts): Promise<void> {
  const { runner, pending, logger } = parts;
  const type = 'permission_prompt';
  const data = { message: reason, title: 'Approval', notification_type: type, tool_name: call.name };
  const outcome = await runner.runEvent({
    event: 'notification',
    ...idsOf(run),
    value: undefined,
    source: type,
    describe: () => ({ data }),
  });
  pending.keep(run.session?.id, outcome.modelTexts);
  const { cancelledBy: hookName } = outcome;
  if (hookName === undefined) return;
  const message = `Hook "${hookName}" cancelled notification. This has no effect: the question for approval stays.`;
  logger.warn(message, { hookName, reason: outcome.reason });
}

/** Runs the `permission_request` hooks before a person is asked. Returns the reason if one of them refuses the call. */
async function judgeQuestion(run: RunContext, moment: CallMoment, parts: HookParts): Promise<string | undefined> {
  const { runner, pending, runs } = parts;
  const outcome = await runner.runEvent({
    ...callContext('permission_request', run, moment),
    signal: runs.of(run).context.signal,
  });
  pending.keep(run.session?.id, outcome.modelTexts);
  return outcome.cancelled ? `hook "${outcome.cancelledBy}": ${outcome.reason}` : undefined;
}

/** Runs hooks that can only be notified and decide nothing. Their messages wait for the next run of the session. */
async function runNotice(context: HookEventContext<undefined>, run: RunContext, parts: HookParts): Promise<void> {
  const outcome = await parts.runner.runEvent(context);
  parts.pending.keep(run.session?.id, outcome.modelTexts);
}

/** Returns the context of an event about a call. */
function callContext(event: HookEvent, run: RunContext, { call, reason }: CallMoment): HookEventContext<undefined> {
  const { id, name, input } = call;
  const args = receivedArgs(
    run.tools.find((tool) => tool.name === name),
    input,
  );
  return {
    event,
    ...idsOf(run),
    value: undefined,
    tool: name,
    args,
    describe: () => ({ data: { ...callData({ id, name, args }), reason } }),
  };
}

/** Runs the `before_compaction` hooks. Returns the reason if a hook cancels the compaction. */
async function beforeCompaction(run: RunContext, parts: HookParts): Promise<string | undefined> {
  const context = compactionContext('before_compaction', run);
  const outcome = await parts.runner.runEvent({ ...context, ...parts.runs.of(run).context });
  parts.pending.keep(run.session?.id, outcome.modelTexts);
  return outcome.cancelled ? (outcome.reason ?? '') : undefined;
}

function compactionContext(event: HookEvent, run: RunContext): HookEventContext<undefined> {
  const trigger = 'auto';
  return { event, ...idsOf(run), value: undefined, source: trigger, describe: () => ({ data: { trigger } }) };
}
