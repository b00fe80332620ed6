import { DECISIONS, isDecision, misfitOf, type ResumeDecisions } from '../agent/run/resume/continuation.js';
import type { PendingCall, RunResult } from '../agent/run-result.js';
import { isObject } from '../internal/json.js';

/** Returns the problem with decisions that came from outside, or undefined. */
export function decisionProblem(decisions: unknown, { pending }: Pick<RunResult, 'pending'>): string | undefined {
  if (!isObject(decisions)) return 'the decisions must be an object: { [callId]: "approve" }';
  const ids = pending.map(({ id }) => id);
  const unknown = Object.keys(decisions).find((id) => !ids.includes(id));
  if (unknown !== undefined) return `"${unknown}" is not pending; pending: ${ids.join(', ')}`;
  const wrong = ids.find((id) => !isDecision(decisions[id]));
  if (wrong !== undefined) return `the decision on "${wrong}" must be ${DECISIONS}`;
  const misfits = (pending as readonly PendingCall[]).map(({ id, needs }) => ({
    id,
    problem: misfitOf(decisions[id], needs === 'result'),
  }));
  const misfit = misfits.find(({ problem }) => problem !== undefined);
  return misfit && `the decision on "${misfit.id}" ${misfit.problem}`;
}

/** Narrows checked decisions to the type of `resume`. */
export function asDecisions(decisions: unknown): ResumeDecisions {
  return decisions as ResumeDecisions;
}
