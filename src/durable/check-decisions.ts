import { DECISIONS, isDecision, misfitOf, type ResumeDecisions } from '../agent/run/resume/continuation.js';
import type { PendingAnswer, PendingCall, RunResult } from '../agent/run-result.js';
import { isObject } from '../internal/json.js';
import { editProblem } from '../tools/edit-check.js';
import { isEdit, kindOf, resolveEdit } from '../tools/edited-approval.js';
import { rememberedTool } from '../tools/tool-set.js';

/** Explains what is wrong with decisions from outside the program. Resolves with undefined if they are valid. */
export async function decisionProblem(
  decisions: unknown,
  { pending }: Pick<RunResult, 'pending'>,
): Promise<string | undefined> {
  if (!isObject(decisions)) return 'the decisions must be an object: { [callId]: "approve" }';
  const ids = pending.map(({ id }) => id);
  const unknown = Object.keys(decisions).find((id) => !ids.includes(id));
  if (unknown !== undefined) return `"${unknown}" is not pending; pending: ${ids.join(', ')}`;
  const wrong = ids.find((id) => !isDecision(decisions[id]));
  if (wrong !== undefined) return `the decision on "${wrong}" must be ${DECISIONS}`;
  for (const call of pending as readonly (PendingCall | PendingAnswer)[]) {
    const problem = await problemOf(call, decisions[call.id]);
    if (problem !== undefined) return `the decision on "${call.id}" ${problem}`;
  }
  return undefined;
}

/** Checks one decision. If the tool of the call is unknown here, the next run checks new arguments. */
async function problemOf(call: PendingCall | PendingAnswer, given: unknown): Promise<string | undefined> {
  const decision = isEdit(given) && call.type !== 'answer' ? resolveEdit(call, given) : given;
  const kind = kindOf(call);
  const tool = rememberedTool(call);
  if (tool === undefined || !isEdit(decision)) return misfitOf(decision, kind);
  return editProblem({ id: call.id, name: tool.name, kind, tool }, decision);
}

/** Narrows checked decisions to the type of `resume`. */
export function asDecisions(decisions: unknown): ResumeDecisions {
  return decisions as ResumeDecisions;
}
