import type { ResumedInside } from '../../../lifecycle/hook-run/run-end.js';
import { deniedAnswer, withAttempts } from '../../../model/denial.js';
import { callAsRun, withEdit } from '../../../model/edited-call.js';
import {
  type AssistantMessage,
  type Message,
  type SuspendedCall,
  type ToolCallPart,
  type ToolMessage,
  textOf,
  toolCallsOf,
  type UserMessage,
} from '../../../model/message.js';
import type { Waiting } from '../../../model/waiting.js';
import { interruptedResult } from '../../../state/record/message-list.js';
import { assertEdit } from '../../../tools/edit-check.js';
import { type EditedApproval, isEdit, resolveEdit } from '../../../tools/edited-approval.js';
import type { ToolResult } from '../../../tools/tool.js';
import { errorResult, resultPartOf } from '../../../tools/tool-result.js';
import { type FindTool, isRunByCaller, toolOf } from '../../../tools/tool-set.js';
import { reviewAnswer } from '../output/output.js';
import type { Run } from '../run.js';
import { approvalText, ToolCalls } from '../turn/tool-calls.js';
import { Turn } from '../turn/turn.js';
import {
  type Continuation,
  checkResults,
  continueFrom,
  type DecidedAnswer,
  isGivenResult,
  type ResumeDecision,
  type ResumeDecisions,
  type ResumedCalls,
  resultOf,
} from './continuation.js';

/**
 * Checks the messages and the decisions, and sets them in the run. Rejects with a ResumeInvalidError if a decision does
 * not fit its call.
 */
export async function takeOver(run: Run, messages: readonly Message[], resume: ResumeDecisions = {}): Promise<void> {
  const { conversation, attached, config } = run;
  const find = (name: string) => config.catalog.current().find(name);
  const start = continueFrom(messages, resume, attached);
  const { calls } = start;
  if (calls !== undefined) {
    checkResults(calls, (call) => needsResult(attached, call) ?? isRunByCaller(find(call.name)));
    await checkEdits(calls.waiting, resume, find);
  }
  conversation.continueFrom(start);
}

/** True if the call waits for a result from the caller, according to the session. Undefined without a session. */
function needsResult({ waits }: Run['attached'], { id }: ToolCallPart): boolean | undefined {
  return waits?.some((call) => call.id === id && call.needs === 'result');
}

/** Continues a suspended run: runs its open calls as decided, or applies the decision on its answer. */
export async function resumeRun(run: Run, message: UserMessage | undefined): Promise<void> {
  const { calls, answer } = run.conversation.resuming as Continuation;
  const turn = new Turn(run, 0);
  run.turn = turn;
  if (calls !== undefined) await runOpenCalls(turn, calls, message);
  if (answer !== undefined) await decideAnswer(turn, answer, message);
}

/** Rejects with a ResumeInvalidError if the tool of a call does not accept its changed arguments. */
async function checkEdits(waiting: readonly Waiting[], decisions: ResumeDecisions, find: FindTool): Promise<void> {
  const checks = waiting.map(({ id, callers, call }) => {
    const given = decisions[id];
    const decision = call && isEdit(given) && resolveEdit(call, given);
    if (!isEdit(decision)) return undefined;
    return assertEdit({ id, name: call?.name ?? '', kind: 'tool', tool: toolOf({ callers, call }, find) }, decision);
  });
  await Promise.all(checks);
}

/** Runs the open calls as turn 0. The user message is added after their results. */
async function runOpenCalls(turn: Turn, resumed: ResumedCalls, message: UserMessage | undefined): Promise<void> {
  const { run } = turn;
  const { recorder } = run.attached;
  turn.events?.start();
  await turn.selectTools();
  if (recorder !== undefined && run.end.verdict === undefined) await run.end.raceOwned(recorder.decide(run));
  turn.calls = resumedCalls(run, resumed, message);
  await turn.calls.execute();
  turn.calls.addResults();
  await turn.settle();
}

/**
 * Prepares the calls of a resumed run. Approved calls run with their hooks, and with the changed arguments if a person
 * changed them. Denied calls get an error result; calls that the caller ran get its result. Undecided calls keep
 * waiting.
 *
 * The messages that followed the calls are added after the results.
 */
export function resumedCalls(run: Run, resumed: ResumedCalls, message: Message | undefined): ToolCalls {
  const { results, open, later } = resumed;
  run.conversation.enqueueFirst(message === undefined ? later : [...later, message]);
  const prior = {
    results: new Map<string, ToolResult>(results.map((result) => [result.id, result])),
    approved: new Map<string, string>(),
    edited: new Set<string>(),
    waits: new Map<string, SuspendedCall>(),
    inside: new Map<string, ResumedInside>(),
  };
  const calls = decidedCalls(run, resumed);
  for (const call of calls.filter(({ id }) => open.some((one) => one.id === id))) {
    const { id, name } = call;
    const decision = resumed.decisions[id] as ResumeDecision | 'again' | undefined;
    const { inside } = open.find((one) => one.id === id) as ToolCallPart;
    if (decision === undefined) {
      const { waits = [{ id, ...UNKNOWN }] } = run.attached;
      const question = waits.find((one) => one.id === id);
      if (question !== undefined || inside !== undefined) prior.waits.set(id, question ?? { id, ...UNKNOWN });
      else prior.results.set(id, interruptedResult(call));
    } else if (decision === 'again') {
      if (inside !== undefined) prior.inside.set(id, { run: inside, decisions: undefined });
    } else if (decision === 'approve' || isEdit(decision)) {
      const { input, invalidInput } = callAsRun(call);
      // Kept as a string, because hooks may change the arguments in place.
      prior.approved.set(id, approvalText(name, invalidInput === undefined ? input : undefined));
      if (call.editedInput !== undefined) prior.edited.add(id);
      if (inside !== undefined) prior.inside.set(id, { run: inside, decisions: resumed.inside.get(id) });
      else recordApproval(run, call);
    } else {
      prior.results.set(id, givenResult(run, call, decision));
    }
  }
  return new ToolCalls(run, calls.map(callAsRun), prior);
}

/** The reason of a waiting call outside a session, because messages do not contain the reason. */
const UNKNOWN = { reason: 'The call waits for a decision.', by: 'resume' } as const;

const RESUME = { by: 'resume', point: 'resume' } as const;

function recordApproval(run: Run, call: ToolCallPart): void {
  const { id, name, editedInput } = call;
  const edit = editedInput !== undefined && { before: call.invalidInput ?? call.input, after: callAsRun(call).input };
  run.record({ ...RESUME, call: { id, name }, type: 'approve', ...edit });
}

function givenResult(
  run: Run,
  { id, name }: ToolCallPart,
  decision: Exclude<ResumeDecision, 'approve' | EditedApproval>,
): ToolResult {
  const record = { ...RESUME, call: { id, name } };
  const result = resultOf(decision, run.attached.recorder?.attemptOf(id)) as ToolResult;
  if (isGivenResult(decision)) run.record({ ...record, type: 'respond', after: result.content });
  else run.record({ ...record, type: 'block', reason: decision === 'deny' ? undefined : decision.deny });
  return result;
}

/**
 * Returns the calls with the arguments that a person changed. Changes them in the history too, because the next
 * suspension has this history.
 *
 * Removes the stored nested run of each decided call, because the nested run continues now.
 */
function decidedCalls({ conversation }: Run, { calls, decisions, index }: ResumedCalls): readonly ToolCallPart[] {
  const decide = (call: ToolCallPart) => {
    const decision = decisions[call.id];
    if (decision === undefined) return call;
    const { inside: _inside, ...own } = call;
    return isEdit(decision) ? withEdit(own, decision.approve) : own;
  };
  if (!calls.some(({ id, inside }) => isEdit(decisions[id]) || inside !== undefined)) return calls;
  const asked = conversation.history[index] as AssistantMessage;
  const content = asked.content.map((part) => (part.type === 'tool-call' ? decide(part) : part));
  conversation.swap(asked, { ...asked, content });
  return calls.map(decide);
}

/**
 * Applies the decision on a suspended answer. An approved answer ends the run, unless messages follow it; then the
 * model answers these messages.
 *
 * After a denial, the model is called again, and the denied answer stays in the history.
 */
async function decideAnswer(turn: Turn, decided: DecidedAnswer, message: UserMessage | undefined): Promise<void> {
  const { run } = turn;
  const { conversation, end } = run;
  const { recorder } = run.attached;
  if (message !== undefined) conversation.enqueueFirst([message]);
  if (end.verdict !== undefined) return conversation.addQueued();
  const { index, decision } = decided;
  const { suspended: _suspended, ...own } = conversation.history[index] as AssistantMessage;
  const reason = typeof decision === 'object' ? decision.deny : undefined;
  // The record stores a denial and its message in one append.
  if (decision !== 'approve') conversation.push({ role: 'user', content: deniedAnswer(reason) });
  if (recorder !== undefined) await run.end.raceOwned(recorder.decide(run));
  conversation.resuming = undefined;
  if (decision === 'approve') {
    replaceAt(run, index, own);
    run.record({ ...RESUME, type: 'approve' });
    await giveAnswer(turn, textOf(own), index);
  } else {
    replaceAt(run, index, { ...own, denied: true });
    run.record({ ...RESUME, type: 'block', reason });
    conversation.addQueued();
  }
}

function replaceAt({ conversation }: Run, index: number, answer: AssistantMessage): void {
  conversation.replace(conversation.history.with(index, answer));
}

/** Makes the text the answer of the run. If messages follow it in the history, the run continues with a model call. */
async function giveAnswer({ run, events }: Turn, text: string, index: number): Promise<void> {
  const { conversation } = run;
  events?.replaceText(text);
  if (index < conversation.history.length - 1) return conversation.addQueued();
  run.answer = text;
  await reviewAnswer(run);
}

/** Gives each suspended call an error result, because a failed run cannot be resumed. */
export function closePending(run: Run): void {
  const { conversation } = run;
  const { added, history, outgoing } = conversation;
  const asked = history.findLast((message) => toolCallsOf(message).length > 0);
  if (asked === undefined || run.pending?.[0]?.type !== 'tool-call') return;
  run.pending = undefined;
  const index = history.indexOf(asked) + 1;
  const partial = history[index]?.role === 'tool' ? (history[index] as ToolMessage) : undefined;
  const failed = 'The call was not completed, because the run failed.';
  const failedPart = (call: ToolCallPart) =>
    resultPartOf(call, errorResult(withAttempts(failed, run.attached.recorder?.attemptOf(call.id))));
  const content = toolCallsOf(asked).map(
    (call) => partial?.content.find(({ id }) => id === call.id) ?? failedPart(call),
  );
  for (const list of new Set([added, history, outgoing])) {
    list.splice(list.indexOf(asked) + 1, partial === undefined ? 0 : 1, { role: 'tool', content });
  }
  conversation.saved = Math.min(conversation.saved, added.indexOf(asked) + 1);
}
