import type { CallVerdict, Verdict } from '../../../lifecycle/hook-run/run-end.js';
import { type AssistantMessage, type SuspendedCall, type ToolCallPart, toolCallsOf } from '../../../model/message.js';
import { type Waiting, waitingIn } from '../../../model/waiting.js';
import { isRunByCaller, rememberTool, toolOf } from '../../../tools/tool-set.js';
import type { PendingAnswer, PendingCall, SuspendedRun } from '../../run-result.js';
import type { Run } from '../run.js';

/** Returns the id of a suspended call with the reason of the hook. Returns undefined if no hook suspended the call. */
export function questionIn(id: string, verdict: Verdict | undefined): SuspendedCall | undefined {
  if (verdict?.action.type !== 'suspend') return undefined;
  return { id, reason: verdict.action.reason, by: verdict.by };
}

/**
 * Adds the suspended nested runs to their tool calls in the history, so that the next run can continue them. Returns
 * the calls.
 */
export function keepInside(
  { conversation }: Run,
  open: readonly ToolCallPart[],
  suspended: ReadonlyMap<string, CallVerdict>,
): readonly ToolCallPart[] {
  const keep = (call: ToolCallPart) => {
    const inside = suspended.get(call.id)?.inside;
    return inside === undefined ? call : { ...call, inside };
  };
  if (!open.some(({ id }) => suspended.get(id)?.inside)) return open;
  const asked = conversation.history.findLast((message) => toolCallsOf(message).length > 0) as AssistantMessage;
  const content = asked.content.map((part) => (part.type === 'tool-call' ? keep(part) : part));
  conversation.swap(asked, { ...asked, content });
  return open.map(keep);
}

/**
 * Returns what waits for the caller: the open calls, or the waiting calls and answers of their nested runs. A call of a
 * tool without `execute` waits for its result, everything else for a decision.
 */
export function pendingIn(
  run: Run,
  open: readonly ToolCallPart[],
  questions: readonly SuspendedCall[],
): SuspendedRun['pending'] {
  return waitingIn(open, questions).map((waiting) => pendingOf(run, waiting));
}

function pendingOf(run: Run, { id, callers, call, text, question }: Waiting): PendingCall | PendingAnswer {
  const outer = callers.at(-1);
  const path = outer && { path: callers.map((caller) => caller.id), agent: outer.inside?.agent };
  const { reason, by, needs } = question as SuspendedCall;
  if (call === undefined) return { type: 'answer', id, text, reason, by, ...path };
  const tool = toolOf({ callers, call }, (name) => run.turn?.tools?.find(name));
  const isForCaller = needs === 'result' || (path === undefined && isRunByCaller(tool));
  const pending = { ...call, id, reason, by, ...(isForCaller && { needs: 'result' as const }), ...path };
  rememberTool(pending, tool);
  return pending;
}
