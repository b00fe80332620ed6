import { describeError, ResumeInvalidError } from '../errors.js';
import { copyData } from '../internal/plain-data.js';
import { type CallKind, type EditedApproval, refusalOf } from './edited-approval.js';
import { describeIssues } from './standard-schema.js';
import type { Tool } from './tool.js';

/** A call whose arguments a person changed. */
export interface EditedCall {
  readonly id: string;
  readonly name: string;
  readonly kind: CallKind;
  readonly tool: Tool | undefined;
}

/**
 * Rejects with a ResumeInvalidError if the tool does not accept the new arguments, or if the arguments of this kind of
 * call cannot be changed.
 */
export async function assertEdit(call: EditedCall, decision: EditedApproval): Promise<void> {
  const problem = await editProblem(call, decision);
  if (problem !== undefined) throw new ResumeInvalidError(`The decision on "${call.id}" ${problem}`, [call.id]);
}

/** Returns the reason why a call cannot run with new arguments, or undefined if it can. */
export async function editProblem(
  { name, kind, tool }: EditedCall,
  { approve }: EditedApproval,
): Promise<string | undefined> {
  const refusal = refusalOf(kind);
  if (refusal !== undefined) return refusal;
  if (tool === undefined) {
    return `must be 'approve' or 'deny', got { approve }: the agent has no tool "${name}" to check the arguments.`;
  }
  try {
    const { issues } = await tool.check(copyData(approve));
    return issues && misfit(name, describeIssues(issues));
  } catch (error) {
    return misfit(name, describeError(error));
  }
}

function misfit(name: string, problem: string): string {
  return `must have arguments that fit the schema of "${name}": ${problem}. Correct \`approve\`, or pass 'approve' or 'deny'.`;
}
