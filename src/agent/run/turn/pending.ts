import type { Verdict } from '../../../lifecycle/hook-run/run-end.js';
import type { SuspendedCall, ToolCallPart } from '../../../model/message.js';
import { type Waiting, waitingIn } from '../../../model/waiting.js';
import { rememberTool, toolOf } from '../../../tools/edited-approval.js';
import { isRunByCaller } from '../../../tools/tool-set.js';
import type { PendingAnswer, PendingCall, SuspendedRun } from '../../run-result.js';
import type { Run } from '../run.js';

/** Returns why a hook has suspended a call. */
export function questionIn(id: string, verdict: Verdict | undefined): SuspendedCall | undefined {
  if (verdict?.action.type !== 'suspend') return undefined;
  return { id, reason: verdict.action.reason, by: verdict.by };
}

/** Returns what waits in open calls: a call for its result if its tool has no `execute`, everything else for a decision. */
export function pendingIn(
  run: Run,
  open: readonly ToolCallPart[],
  questions: readonly SuspendedCall[],
): SuspendedRun['pending'] {
  return waitingIn(open, questions).map((waiting) => pendingOf(run, waiting));
}

function pendingOf(run: Run, { id, callers, call, text, question }: Waiting): PendingCall | PendingAnswer {
  const path = callers.length === 0 ? undefined : { path: callers.map((caller) => caller.id) };
  const { reason, by, needs } = question as SuspendedCall;
  if (call === undefined) return { type: 'answer', id, text, reason, by, ...path };
  const tool = toolOf({ callers, call }, (name) => run.turn?.tools?.find(name));
  const isForCaller = needs === 'result' || (path === undefined && isRunByCaller(tool));
  const pending = { ...call, id, reason, by, ...(isForCaller && { needs: 'result' as const }), ...path };
  rememberTool(pending, tool);
  return pending;
}
