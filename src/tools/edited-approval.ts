import { isObject, type JsonValue, toJson } from '../internal/json.js';
import { isSameData } from '../internal/plain-data.js';
import { inputOf } from '../model/edited-call.js';
import type { ToolCallPart } from '../model/message.js';

/** The approval of a call with changed arguments. */
export interface EditedApproval {
  readonly approve: JsonValue;
}

/**
 * The kind of a waiting call or answer. The kind of a call says who runs it: Keelson (`tool`), the caller of the agent
 * (`result`), or the provider (`provider`).
 */
export type CallKind = 'tool' | 'result' | 'provider' | 'answer';

/** Returns the kind of a waiting call or answer. */
export function kindOf(call: {
  readonly type?: string | undefined;
  readonly needs?: 'result' | undefined;
  readonly needsApproval?: boolean | undefined;
}): CallKind {
  if (call.type === 'answer') return 'answer';
  if (call.needs === 'result') return 'result';
  return call.needsApproval ? 'provider' : 'tool';
}

/**
 * True for a decision `{ approve: input }` whose arguments JSON can represent. False if the decision also denies the
 * call or has a result.
 */
export function isEdit(decision: unknown): decision is EditedApproval {
  if (!isObject(decision) || decision.deny !== undefined || decision.result !== undefined) return false;
  return isJson(decision.approve);
}

/** True for a value that JSON can represent. */
export function isJson(value: unknown): boolean {
  try {
    return toJson(value) !== undefined;
  } catch {
    return false;
  }
}

type Decisions = Readonly<Record<string, unknown>>;

/** Returns a copy of the decisions. A decision whose arguments equal the arguments of its call becomes `approve`. */
export function resolveEdits<D extends Decisions>(decisions: D, calls: readonly ToolCallPart[]): D {
  const resolved = calls.flatMap((call) => {
    const decision = decisions[call.id];
    return isEdit(decision) ? [[call.id, resolveEdit(call, decision)]] : [];
  });
  return resolved.length === 0 ? decisions : { ...decisions, ...Object.fromEntries(resolved) };
}

/** Returns `approve` if the decision does not change the arguments, otherwise a copy of the decision. */
export function resolveEdit(
  call: Pick<ToolCallPart, 'input' | 'invalidInput'>,
  { approve }: EditedApproval,
): EditedApproval | 'approve' {
  const input: JsonValue = JSON.parse(toJson(approve));
  return isSameData(input, inputOf(call)) ? 'approve' : { approve: input };
}

/** Returns the reason why the arguments of this kind of call cannot be changed, or undefined. */
export function refusalOf(kind: CallKind): string | undefined {
  if (kind === 'result')
    return "must be { result } or 'deny', got { approve }: its tool has no `execute`, so only the caller can run it.";
  if (kind === 'answer') return "must be 'approve' or 'deny', got { approve }: an answer has no arguments.";
  if (kind === 'provider') return "must be 'approve' or 'deny', got { approve }: the provider runs the call as it is.";
  return undefined;
}
