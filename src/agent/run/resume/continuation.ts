import { ResumeInvalidError } from '../../../errors.js';
import { isObject, type JsonValue } from '../../../internal/json.js';
import { checkMessages, type OpenCalls } from '../../../model/check-messages.js';
import { deniedCall, withAttempts } from '../../../model/denial.js';
import type { Message, SuspendedCall, ToolCallPart } from '../../../model/message.js';
import { ANSWER, BETWEEN, suspendedAnswer, type Waiting, waitingIn } from '../../../model/waiting.js';
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
 * The decision on a suspended tool call or answer. A call of a tool without `execute` takes its result or a denial.
 * Every other call takes an approval or a denial.
 *
 * `{ approve: input }` runs the call with these arguments, which must match the tool's schema.
 */
export type ResumeDecision =
  | 'approve'
  | 'deny'
  | { readonly deny: string }
  | { readonly approve: JsonValue }
  | GivenResult;

/**
 * Decisions keyed by the ids in `pending`. At least one is required; undecided calls keep waiting.
 *
 * A call of an enclosing run can be denied too: its id is the first part of the pending id.
 *
 * The type accepts any string, so that `Object.fromEntries` compiles. A run refuses every string except 'approve' and
 * 'deny'.
 */
export type ResumeDecisions = Readonly<Record<string, ResumeDecision | (string & Record<never, never>)>>;

/** The open tool calls of a conversation, and the decisions on them. */
export interface ResumedCalls extends OpenCalls {
  /**
   * The decisions by call id. `again` repeats an interrupted call. A call without a decision keeps waiting. A call
   * whose nested run got decisions counts as approved.
   */
  readonly decisions: Readonly<Record<string, ResumeDecisions[string] | 'again'>>;
  /** The decisions on the nested run of a call, by the id of the call. */
  readonly inside: ReadonlyMap<string, ResumeDecisions>;
  /** All waiting calls and answers, at every depth. */
  readonly waiting: readonly Waiting[];
  /** The messages after the open calls. They are added again after the results of the calls. */
  readonly later: readonly Message[];
}

/** The messages from which a run continues, and the open tool calls or the open answer of a suspended run. */
export interface Continuation {
  /**
   * The messages up to the open calls. The results that these calls already have are left out: the run adds them again,
   * together with the new results.
   */
  readonly history: readonly Message[];
  readonly calls?: ResumedCalls | undefined;
  readonly answer?: DecidedAnswer | undefined;
}

/** The decision on a suspended answer, and the position of the answer in the history. */
export interface DecidedAnswer {
  readonly index: number;
  readonly decision: Exclude<ResumeDecision, EditedApproval | GivenResult>;
}

/** Facts about the messages that a run starts from. */
interface KnownHistory {
  /** The number of leading messages that were checked before. */
  readonly closed?: number | undefined;
  /** The reasons why the open calls wait. */
  readonly waits?: readonly SuspendedCall[] | undefined;
  /** True if the open calls must run again without decisions, because their process crashed. */
  readonly isRepeated?: boolean | undefined;
}

/**
 * Checks the messages that a run starts from. If tool calls are open, at least one needs a decision, and each decision
 * must be on a waiting call, at any depth. Otherwise throws ResumeInvalidError.
 */
export function continueFrom(
  messages: readonly Message[],
  resume: ResumeDecisions | undefined,
  { closed, waits, isRepeated = false }: KnownHistory = {},
): Continuation {
  const decisions = resume ?? {};
  const open = checkMessages(messages, closed);
  if (open !== undefined && isRepeated) {
    const again = Object.fromEntries(open.open.map(({ id }) => [id, 'again'] as const));
    const history = messages.slice(0, open.index + 1);
    return { history, calls: { ...open, decisions: again, inside: new Map(), waiting: [], later: [] } };
  }
  if (open !== undefined) {
    const waiting = waitingIn(open.open, waits);
    const others = callersOf(waiting).filter((id) => decisionsInside(decisions, id) === undefined);
    assertDecided({ ids: waiting.map(({ id }) => id), others, decisions }, 'open tool calls');
    for (const id of others) if (Object.hasOwn(decisions, id)) assertFits(id, decisions[id], 'agent');
    const later = messages.slice(open.index + 1).filter((message) => message.role !== 'tool');
    return {
      history: messages.slice(0, open.index + 1),
      calls: { ...open, ...decisionsOn(open.open, decisions), waiting, later },
    };
  }
  const index = suspendedAnswer(messages);
  assertDecided({ ids: index === undefined ? [] : [ANSWER], decisions }, 'a suspended answer');
  if (index !== undefined) assertFits(ANSWER, decisions[ANSWER], 'answer');
  const answer = index === undefined ? undefined : { index, decision: decisions[ANSWER] as DecidedAnswer['decision'] };
  return { history: messages, answer };
}

/**
 * Throws a ResumeInvalidError if a decision does not fit its call, such as a result for a call that Keelson runs.
 *
 * `needsResult` returns true for the calls that the caller runs. The arguments of these calls, and of calls that the
 * provider runs, cannot be changed.
 */
export function checkResults(
  { open, decisions, inside, waiting }: ResumedCalls,
  needsResult: (call: ToolCallPart) => boolean,
): void {
  for (const call of open) {
    if (!Object.hasOwn(decisions, call.id)) continue;
    assertFits(call.id, decisions[call.id], needsResult(call) ? 'result' : kindOf(call));
  }
  for (const { id, callers, call, question } of waiting) {
    const [caller] = callers;
    const decision = caller && inside.get(caller.id)?.[id.slice(caller.id.length + 1)];
    if (decision !== undefined)
      assertFits(id, decision, kindOf({ type: call ? 'tool-call' : 'answer', ...call, ...question }));
  }
}

/** Returns the ids of the tool calls that enclose a waiting call or answer. */
function callersOf(waiting: readonly Waiting[]): readonly string[] {
  const paths = waiting.map(({ callers }) => callers.map(({ id }) => id));
  return [...new Set(paths.flatMap((path) => path.map((_, at) => path.slice(0, at + 1).join(BETWEEN))))];
}

/** Divides decisions into the decisions on the calls themselves, and the decisions on their nested runs. */
function decisionsOn(
  open: readonly ToolCallPart[],
  decisions: ResumeDecisions,
): Pick<ResumedCalls, 'decisions' | 'inside'> {
  const inside = new Map<string, ResumeDecisions>();
  const own: Record<string, ResumeDecisions[string]> = {};
  for (const { id } of open) {
    const below = decisionsInside(decisions, id);
    if (below !== undefined) inside.set(id, below);
    if (below !== undefined) own[id] = 'approve';
    else if (Object.hasOwn(decisions, id)) own[id] = decisions[id] as ResumeDecision;
  }
  return { decisions: resolveEdits(own, open), inside };
}

/**
 * Returns the decisions on the nested run of a call, keyed by the ids in that run. Returns undefined without any.
 */
function decisionsInside(decisions: ResumeDecisions, call: string): ResumeDecisions | undefined {
  const prefix = call + BETWEEN;
  const inside = Object.entries(decisions).filter(([id]) => id.startsWith(prefix));
  return inside.length === 0
    ? undefined
    : Object.fromEntries(inside.map(([id, one]) => [id.slice(prefix.length), one]));
}

/** Returns the result that a decision gives to its call, or undefined for an approved call. */
export function resultOf(decision: ResumeDecision, attempt?: number): ToolResult | undefined {
  if (decision === 'approve' || isEdit(decision)) return undefined;
  if (decision === 'deny') return errorResult(withAttempts(deniedCall(), attempt));
  if ('deny' in decision) return errorResult(withAttempts(deniedCall(decision.deny), attempt));
  return toGivenResult(decision.result, decision.isError);
}

/** True for a decision that contains the result of a call, because the caller ran the tool. */
export function isGivenResult(decision: unknown): decision is GivenResult {
  return isObject(decision) && decision.result !== undefined;
}

function assertFits(id: string, decision: unknown, kind: CallKind | 'agent'): void {
  const problem = misfitOf(decision, kind);
  if (problem !== undefined) throw new ResumeInvalidError(`The decision on "${id}" ${problem}`, [id]);
}

/**
 * Explains why a valid decision does not fit a call, or returns undefined. The kind `agent` means a call whose nested
 * run is suspended.
 */
export function misfitOf(decision: unknown, kind: CallKind | 'agent'): string | undefined {
  if (kind === 'agent' && (decision === 'approve' || isEdit(decision) || isGivenResult(decision)))
    return "must be 'deny': the call has begun. Decide on the waiting calls of its nested run.";
  if (kind !== 'agent' && isEdit(decision)) return refusalOf(kind);
  if (kind === 'result' && decision === 'approve')
    return "must be { result } or 'deny', got 'approve': its tool has no `execute`, so only the caller can run it.";
  if (kind !== 'result' && isGivenResult(decision))
    return "must be 'approve' or 'deny', got a result: only a call of a tool without `execute` takes one.";
  return undefined;
}

interface Decided {
  /** The ids that wait for a decision. */
  readonly ids: readonly string[];
  /** Further ids that may be decided on: the tool calls around a waiting call. */
  readonly others?: readonly string[] | undefined;
  readonly decisions: ResumeDecisions;
}

/**
 * Throws a ResumeInvalidError if `decisions` is empty, has an id that is not in `ids` or `others`, or has an invalid
 * decision.
 *
 * `what` names the waiting calls in the message.
 */
function assertDecided({ ids, others = [], decisions }: Decided, what: string): void {
  const refuse = (wrong: readonly string[], problem: (ids: string) => string) => {
    if (wrong.length > 0) throw new ResumeInvalidError(problem(wrong.map((id) => `"${id}"`).join(', ')), wrong);
  };
  const given = Object.keys(decisions);
  const unknown = given.filter((id) => !ids.includes(id) && !others.includes(id));
  if (ids.length === 0) refuse(unknown, (list) => `No call is open, but \`resume\` decides on ${list}.`);
  refuse(
    given.length === 0 ? ids : [],
    (list) => `The messages end in ${what}. In \`resume\`, set ${DECISIONS} for these ids: ${list}.`,
  );
  refuse(unknown, (list) => `\`resume\` decides on calls that are not open: ${list}.`);
  refuse(
    given.filter((id) => !isDecision(decisions[id])),
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
