import { ResumeInvalidError } from '../../../errors.js';
import { isObject, type JsonValue } from '../../../internal/json.js';
import { checkMessages, type OpenCalls } from '../../../model/check-messages.js';
import { deniedCall } from '../../../model/denial.js';
import type { Message, ToolCallPart } from '../../../model/message.js';
import { ANSWER } from '../../../state/record/decisions.js';
import type { GivenResult } from '../../../state/record/entry.js';
import {
  type CallKind,
  type EditedApproval,
  isEdit,
  isJson,
  kindOf,
  refusalOf,
  resolveEdits,
} from '../../../tools/edited-approval.js';
import type { ToolResult } from '../../../tools/tool.js';
import { errorResult, toGivenResult } from '../../../tools/tool-result.js';

/**
 * The decision on a suspended tool call or answer. A call of a tool without `execute` takes its result, or a denial; every
 * other call takes an approval or a denial. `{ approve: input }` lets the call run with these arguments, which must fit the
 * schema of its tool.
 */
export type ResumeDecision =
  | 'approve'
  | 'deny'
  | { readonly deny: string }
  | { readonly approve: JsonValue }
  | GivenResult;

/**
 * A decision for each open tool call by call id, or for a suspended answer under the id `answer`. The type accepts any
 * string, so that `Object.fromEntries` compiles. A run refuses every string except 'approve' and 'deny'.
 */
export type ResumeDecisions = Readonly<Record<string, ResumeDecision | (string & Record<never, never>)>>;

/** The open tool calls of a conversation, with a decision for each call. */
export interface ResumedCalls extends OpenCalls {
  readonly decisions: ResumeDecisions;
  /** The messages after the open calls. They are added again after the results of the calls. */
  readonly later: readonly Message[];
}

/** The messages that a run continues from, and what a suspended run left open: tool calls, or its answer. */
export interface Continuation {
  /** The messages up to the open calls. Known results of that turn are added again together with the new results. */
  readonly history: readonly Message[];
  readonly calls?: ResumedCalls | undefined;
  readonly answer?: DecidedAnswer | undefined;
}

/** A suspended answer, by its position in the history, and the decision on it. */
export interface DecidedAnswer {
  readonly index: number;
  readonly decision: Exclude<ResumeDecision, EditedApproval | GivenResult>;
}

/**
 * Checks the messages that a run starts from. Skips the first `closed` of them, which have been checked. Each tool call
 * without a result must have a decision, and no other call may have one. Otherwise throws ResumeInvalidError.
 */
export function continueFrom(
  messages: readonly Message[],
  resume: ResumeDecisions | undefined,
  closed?: number,
): Continuation {
  const decisions = resume ?? {};
  const open = checkMessages(messages, closed);
  if (open !== undefined) {
    const ids = open.open.map((call) => call.id);
    assertDecided(ids, decisions, 'open tool calls');
    const later = messages.slice(open.index + 1).filter((message) => message.role !== 'tool');
    return {
      history: messages.slice(0, open.index + 1),
      calls: { ...open, decisions: resolveEdits(decisions, open.open), later },
    };
  }
  const index = suspendedAnswer(messages);
  assertDecided(index === undefined ? [] : [ANSWER], decisions, 'a suspended answer');
  if (index !== undefined) assertFits(ANSWER, decisions[ANSWER], 'answer');
  const answer = index === undefined ? undefined : { index, decision: decisions[ANSWER] as DecidedAnswer['decision'] };
  return { history: messages, answer };
}

/**
 * Throws a ResumeInvalidError if a decision does not fit its call, such as a result of a call that Keelson runs. The caller
 * runs the calls for which `needsResult` returns true. Of them, and of those that the provider runs, nobody changes the
 * arguments.
 */
export function checkResults({ open, decisions }: ResumedCalls, needsResult: (call: ToolCallPart) => boolean): void {
  for (const call of open) assertFits(call.id, decisions[call.id], needsResult(call) ? 'result' : kindOf(call));
}

/** Returns the result that a decision gives to its call, or undefined for an approved call. */
export function resultOf(decision: ResumeDecision): ToolResult | undefined {
  if (decision === 'approve' || isEdit(decision)) return undefined;
  if (decision === 'deny') return errorResult(deniedCall());
  if ('deny' in decision) return errorResult(deniedCall(decision.deny));
  return toGivenResult(decision.result, decision.isError);
}

/** True for the result of a call that the caller ran. */
export function isGivenResult(decision: unknown): decision is GivenResult {
  return isObject(decision) && decision.result !== undefined;
}

function assertFits(id: string, decision: unknown, kind: CallKind): void {
  const problem = misfitOf(decision, kind);
  if (problem !== undefined) throw new ResumeInvalidError(`The decision on "${id}" ${problem}`, [id]);
}

/** Returns the problem with a valid decision on a call, or undefined. */
export function misfitOf(decision: unknown, kind: CallKind): string | undefined {
  if (isEdit(decision)) return refusalOf(kind);
  if (kind === 'result' && decision === 'approve')
    return "must be { result } or 'deny', got 'approve': its tool has no `execute`, so only the caller can run it.";
  if (kind !== 'result' && isGivenResult(decision))
    return "must be 'approve' or 'deny', got a result: only a call of a tool without `execute` takes one.";
  return undefined;
}

/** Returns the index of the last answer if it is suspended. Messages of the user may follow. */
function suspendedAnswer(messages: readonly Message[]): number | undefined {
  const index = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const last = messages[index];
  return last?.role === 'assistant' && last.suspended ? index : undefined;
}

/** Throws a ResumeInvalidError unless the decisions are on exactly these ids. */
function assertDecided(ids: readonly string[], decisions: ResumeDecisions, what: string): void {
  const refuse = (wrong: readonly string[], problem: (ids: string) => string) => {
    if (wrong.length > 0) throw new ResumeInvalidError(problem(wrong.map((id) => `"${id}"`).join(', ')), wrong);
  };
  const unknown = Object.keys(decisions).filter((id) => !ids.includes(id));
  if (ids.length === 0) refuse(unknown, (list) => `No call is open, but \`resume\` decides on ${list}.`);
  refuse(
    ids.filter((id) => !Object.hasOwn(decisions, id)),
    (list) => `The messages end in ${what}. In \`resume\`, set ${DECISIONS} for each id: ${list}.`,
  );
  refuse(unknown, (list) => `\`resume\` decides on calls that are not open: ${list}.`);
  refuse(
    ids.filter((id) => !isDecision(decisions[id])),
    (list) => `The decision on ${list} must be ${DECISIONS}.`,
  );
}

/** The valid decisions, for error messages. */
export const DECISIONS = "'approve', 'deny', { deny: reason }, { approve: input } or { result }";

/** True for a valid decision. */
export function isDecision(decision: unknown): boolean {
  if (decision === 'approve' || decision === 'deny') return true;
  if (!isObject(decision)) return false;
  const { deny, approve, result, isError } = decision;
  if (isEdit(decision)) return true;
  if (approve !== undefined || (deny === undefined) === (result === undefined)) return false;
  if (deny !== undefined) return typeof deny === 'string';
  return isJson(result) && (isError === undefined || typeof isError === 'boolean');
}
