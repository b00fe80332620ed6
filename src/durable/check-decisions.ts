import { DECISIONS, isDecision, misfitOf, type ResumeDecisions } from '../agent/run/resume/continuation.js';
import type { PendingAnswer, PendingCall, RunResult } from '../agent/run-result.js';
import { isObject } from '../internal/json.js';
import { editProblem } from '../tools/edit-check.js';
import { isEdit, kindOf, resolveEdit } from '../tools/edited-approval.js';
import { rememberedTool } from '../tools/tool-set.js';

/**
 * Describes the first problem with decisions that come from another process, such as an unknown call id. Resolves with
 * undefined if the decisions are valid.
 */
export async function decisionProblem(
  decisions: unknown,
  { pending }: Pick<RunResult, 'pending'>,
): Promise<string | undefined> {
  if (!isObject(decisions)) return 'the decisions must be an object: { [callId]: "approve" }';
  const ids = pending.map(({ id }) => id);
  const unknown = Object.keys(decisions).find((id) => !ids.includes(id));
  if (unknown !== undefined) return `no call with the id "${unknown}" waits for a decision; waiting: ${ids.join(', ')}`;
  const wrong = ids.find((id) => !isDecision(decisions[id]));
  if (wrong !== undefined) return `the decision on "${wrong}" must be ${DECISIONS}`;
  for (const call of pending as readonly (PendingCall | PendingAnswer)[]) {
    const problem = await problemOf(call, decisions[call.id]);
    if (problem !== undefined) return `the decision on "${call.id}" ${problem}`;
  }
  return undefined;
}

/**
 * Returns the problem with one decision. If this process does not know the tool of the call, changed arguments are
 * checked later, by the next run.
 */
async function problemOf(call: PendingCall | PendingAnswer, given: unknown): Promise<string | undefined> {
  const decision = isEdit(given) && call.type !== 'answer' ? resolveEdit(call, given) : given;
  const kind = kindOf(call);
  const tool = rememberedTool(call);
  if (tool === undefined || !isEdit(decision)) return misfitOf(decision, kind);
  return editProblem({ id: call.id, name: tool.name, kind, tool }, decision);
}

/**
 * Returns the decisions with the type of the option `resume`. Call it only with decisions that `decisionProblem`
 * accepts.
 */
export function asDecisions(decisions: unknown): ResumeDecisions {
  return decisions as ResumeDecisions;
}
