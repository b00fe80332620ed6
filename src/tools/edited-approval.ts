import { describeError, ResumeInvalidError } from '../errors.js';
import { isObject, type JsonValue, toJson } from '../internal/json.js';
import { copyData, isSameData } from '../internal/plain-data.js';
import { inputOf } from '../model/edited-call.js';
import type { ToolCallPart } from '../model/message.js';
import { describeIssues } from './standard-schema.js';
import type { Tool } from './tool.js';

/** The approval of a call with other arguments. */
export interface EditedApproval {
  readonly approve: JsonValue;
}

/** A kind of call, by who runs it: Keelson, the caller of the agent, or the provider. Nobody runs an answer. */
export type CallKind = 'tool' | 'result' | 'provider' | 'answer';

/** A call whose arguments a person changes. */
export interface EditedCall {
  readonly id: string;
  readonly name: string;
  readonly kind: CallKind;
  readonly tool: Tool | undefined;
}

type Decisions = Readonly<Record<string, unknown>>;

/** Returns the kind of a call or an answer that waits. */
export function kindOf(call: {
  readonly type?: string | undefined;
  readonly needs?: 'result' | undefined;
  readonly needsApproval?: boolean | undefined;
}): CallKind {
  if (call.type === 'answer') return 'answer';
  if (call.needs === 'result') return 'result';
  return call.needsApproval ? 'provider' : 'tool';
}

/** True for an approval with other arguments that JSON can hold, and nothing else. */
export function isEdit(decision: unknown): decision is EditedApproval {
  if (!isObject(decision) || decision.deny !== undefined || decision.result !== undefined) return false;
  return isJson(decision.approve);
}

/** True for a value that JSON can hold. */
export function isJson(value: unknown): boolean {
  try {
    return toJson(value) !== undefined;
  } catch {
    return false;
  }
}

/** Returns decisions whose new arguments are copies. New arguments that are those of the call are an ordinary approval. */
export function resolveEdits<D extends Decisions>(decisions: D, calls: readonly ToolCallPart[]): D {
  const resolved = calls.flatMap((call) => {
    const decision = decisions[call.id];
    return isEdit(decision) ? [[call.id, resolveEdit(call, decision)]] : [];
  });
  return resolved.length === 0 ? decisions : { ...decisions, ...Object.fromEntries(resolved) };
}

/** Returns an ordinary approval if the arguments are those of the call. */
export function resolveEdit(
  call: Pick<ToolCallPart, 'input' | 'invalidInput'>,
  { approve }: EditedApproval,
): EditedApproval | 'approve' {
  const input: JsonValue = JSON.parse(toJson(approve));
  return isSameData(input, inputOf(call)) ? 'approve' : { approve: input };
}

/** Rejects with a ResumeInvalidError if a call does not take the new arguments. */
export async function assertEdit(call: EditedCall, decision: EditedApproval): Promise<void> {
  const problem = await editProblem(call, decision);
  if (problem !== undefined) throw new ResumeInvalidError(`The decision on "${call.id}" ${problem}`, [call.id]);
}

/** Returns the problem with new arguments of a call, or undefined. */
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

/** Returns why a kind of call takes no new arguments, or undefined. */
export function refusalOf(kind: CallKind): string | undefined {
  if (kind === 'result')
    return "must be { result } or 'deny', got { approve }: its tool has no `execute`, so only the caller can run it.";
  if (kind === 'answer') return "must be 'approve' or 'deny', got { approve }: an answer has no arguments.";
  if (kind === 'provider') return "must be 'approve' or 'deny', got { approve }: the provider runs the call as it is.";
  return undefined;
}

function misfit(name: string, problem: string): string {
  return `must have arguments that fit the schema of "${name}": ${problem}. Correct \`approve\`, or pass 'approve' or 'deny'.`;
}

/** The tools of the calls that wait, for hosts that check decisions before the next run. */
const pendingTools = new WeakMap<object, Tool>();

/** Remembers the tool of a call that waits. */
export function rememberTool(call: object, tool: Tool | undefined): void {
  if (tool !== undefined) pendingTools.set(call, tool);
}

/** Returns the tool of a call that waits, unless the call is a copy. */
export function rememberedTool(call: object): Tool | undefined {
  return pendingTools.get(call);
}
