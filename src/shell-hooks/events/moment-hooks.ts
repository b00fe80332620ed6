import { hookRunOf, type Moment } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { receivedArgs } from '../../tools/received-args.js';
import type { HookEventContext } from '../hook/event-context.js';
import { callData } from '../run/input.js';
import type { HookEventResult } from '../run/outcome.js';
import { type HookParts, idsOf, NOTICES } from './run-state.js';

/**
 * The hook events of each `Moment` of a run, such as a question for approval, in the order in which their hooks run.
 */
const EVENTS = {
  approval: ['notification', 'permission_request'],
  denial: ['permission_denied'],
  compaction: ['before_compaction'],
  compacted: ['after_compaction'],
} as const satisfies Readonly<Record<Moment['kind'], readonly HookEvent[]>>;

/** All hook events that belong to a `Moment` of a run. */
export const MOMENT_EVENTS: readonly HookEvent[] = Object.values(EVENTS).flat();

/** Runs hooks at the approvals, denials and compactions of a run, after the hooks of earlier loaders. */
export function watchMoments(run: RunContext, events: ReadonlySet<HookEvent>, parts: HookParts): void {
  const hookRun = hookRunOf(run);
  if (hookRun === undefined) return;
  const { onMoment } = hookRun;
  const handle = async (moment: Moment, earlier: Promise<string | undefined> | undefined) => {
    let refusal = await earlier;
    for (const event of EVENTS[moment.kind]) {
      if (refusal !== undefined || !events.has(event)) continue;
      const context = contextOf(event, run, moment);
      if (NOTICES.has(event)) runLater(context, run, parts);
      else refusal = refusalOf(await runHooks({ ...context, ...parts.runs.of(run).context }, run, parts), moment);
    }
    return refusal;
  };
  hookRun.onMoment = (moment) => handle(moment, onMoment?.(moment));
}

/** Returns the reason if a hook refuses the call or the compaction. */
function refusalOf({ cancelledBy, reason = '' }: HookEventResult, { kind }: Moment): string | undefined {
  if (cancelledBy === undefined) return undefined;
  return kind === 'approval' ? `hook "${cancelledBy}": ${reason}` : reason;
}

/** Runs the hooks of an event. Their messages wait for the next run of the session. */
async function runHooks(
  context: HookEventContext<undefined>,
  run: RunContext,
  { runner, pending }: HookParts,
): Promise<HookEventResult> {
  const outcome = await runner.runEvent(context);
  pending.keep(run.session?.id, outcome.modelTexts);
  return outcome;
}

/** The last hooks of each run that nobody waits for. The next ones start after them, so that events stay in order. */
const latest = new WeakMap<RunContext, Promise<void>>();

/** Runs hooks of `NOTICES`, for which the run does not wait. They start after the earlier ones of the same run. */
function runLater(context: HookEventContext<undefined>, run: RunContext, parts: HookParts): void {
  const work = (latest.get(run) ?? Promise.resolve()).then(async () => {
    const { cancelledBy: hookName, reason } = await runHooks(context, run, parts);
    if (hookName === undefined || context.event !== 'notification') return;
    const message = `Hook "${hookName}" cancelled notification. This has no effect: the question for approval stays.`;
    parts.logger.warn(message, { hookName, reason });
  });
  latest.set(run, work);
  parts.notices.add(work);
  void work.finally(() => parts.notices.delete(work));
}

function contextOf(event: HookEvent, run: RunContext, moment: Moment): HookEventContext<undefined> {
  const context = { event, ...idsOf(run), value: undefined };
  if (!('call' in moment)) {
    const trigger = 'auto';
    return { ...context, source: trigger, describe: () => ({ data: { trigger } }) };
  }
  const { reason, call } = moment;
  const { id, name, input } = call;
  if (event === 'notification') {
    const source = 'permission_prompt';
    const data = { message: reason, title: 'Approval', notification_type: source, tool_name: name };
    return { ...context, source, describe: () => ({ data }) };
  }
  const args = receivedArgs(
    run.tools.find((tool) => tool.name === name),
    input,
  );
  const data = { ...callData({ id, name, args }), reason };
  return { ...context, tool: name, args, describe: () => ({ data }) };
}
