import { deniedAnswer } from '../../../model/denial.js';
import { callAsRun, withEdit } from '../../../model/edited-call.js';
import {
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  textOf,
  type UserMessage,
} from '../../../model/message.js';
import { assertEdit } from '../../../tools/edit-check.js';
import { isEdit } from '../../../tools/edited-approval.js';
import type { Tool, ToolResult } from '../../../tools/tool.js';
import { reviewAnswer } from '../output.js';
import { type Run, recorded } from '../run.js';
import { approvalText, ToolCalls } from '../turn/tool-calls.js';
import { Turn } from '../turn/turn.js';
import {
  type Continuation,
  type DecidedAnswer,
  isGivenResult,
  type ResumeDecision,
  type ResumedCalls,
  resultOf,
} from './continuation.js';

/** Continues a suspended run: runs its open calls as decided, or applies the decision on its answer. */
export async function resumeRun(run: Run, message: UserMessage | undefined): Promise<void> {
  const { calls, answer } = run.conversation.resuming as Continuation;
  const turn = new Turn(run, 0);
  run.turn = turn;
  if (calls !== undefined) await runOpenCalls(turn, calls, message);
  if (answer !== undefined) await decideAnswer(turn, answer, message);
}

/** Rejects with a ResumeInvalidError if new arguments do not fit their call. */
export async function checkEdits(
  { open, decisions }: ResumedCalls,
  find: (name: string) => Tool | undefined,
): Promise<void> {
  const checks = open.map(({ id, name }) => {
    const decision = decisions[id];
    return isEdit(decision) ? assertEdit({ id, name, kind: 'tool', tool: find(name) }, decision) : undefined;
  });
  await Promise.all(checks);
}

/** Runs the open calls as turn 0. The user message is added after their results. */
async function runOpenCalls(turn: Turn, resumed: ResumedCalls, message: UserMessage | undefined): Promise<void> {
  const { run } = turn;
  const { recorder } = run.attached;
  turn.events?.start();
  await turn.selectTools();
  if (recorder !== undefined && run.end.verdict === undefined) await recorded(run, recorder.decide(run));
  turn.calls = resumedCalls(run, resumed, message);
  await turn.calls.execute();
  turn.calls.addResults();
  await turn.settle();
}

/**
 * Makes the calls of a resumed run. Approved calls run, with their hooks, and with the arguments of the person if there are
 * some. Denied calls get an error result, and calls that the caller ran get theirs. The messages that followed the calls are
 * added after the results.
 */
export function resumedCalls(run: Run, resumed: ResumedCalls, message: Message | undefined): ToolCalls {
  const { results, open, decisions, later } = resumed;
  const calls = markEdits(run, resumed);
  run.conversation.enqueueFirst(message === undefined ? later : [...later, message]);
  const known = new Map<string, ToolResult>(results.map((result) => [result.id, result]));
  const approved = new Map<string, string>();
  const edited = new Set<string>();
  for (const call of calls.filter(({ id }) => open.some((one) => one.id === id))) {
    const { id, name } = call;
    const decision = decisions[id] as ResumeDecision;
    const record = { by: 'resume', point: 'resume', call: { id, name } } as const;
    if (decision === 'approve' || isEdit(decision)) {
      const { input, invalidInput } = callAsRun(call);
      // Kept as a string, because hooks may change the arguments in place.
      approved.set(id, approvalText(name, invalidInput === undefined ? input : undefined));
      const isEdited = call.editedInput !== undefined;
      if (isEdited) edited.add(id);
      run.record({
        ...record,
        type: 'approve',
        ...(isEdited && { before: call.invalidInput ?? call.input, after: input }),
      });
      continue;
    }
    const result = resultOf(decision) as ToolResult;
    if (isGivenResult(decision)) run.record({ ...record, type: 'respond', after: result.content });
    else run.record({ ...record, type: 'block', reason: decision === 'deny' ? undefined : decision.deny });
    known.set(id, result);
  }
  return new ToolCalls(run, calls.map(callAsRun), { results: known, approved, edited });
}

/** Returns the calls with the arguments of the person, which are also noted in the history: the call may be suspended again. */
function markEdits({ conversation }: Run, { calls, decisions, index }: ResumedCalls): readonly ToolCallPart[] {
  if (!calls.some(({ id }) => isEdit(decisions[id]))) return calls;
  const marked = (call: ToolCallPart) => {
    const decision = decisions[call.id];
    return isEdit(decision) ? withEdit(call, decision.approve) : call;
  };
  const { history } = conversation;
  const asked = history[index] as AssistantMessage;
  const content = asked.content.map((part) => (part.type === 'tool-call' ? marked(part) : part));
  conversation.adopt(history.with(index, { ...asked, content }));
  return calls.map(marked);
}

/**
 * Applies the decision on a suspended answer. An approved answer ends the run. If the history has messages after the
 * answer, or the caller passes one, the model is called to answer these first. After a denial, the model is called again;
 * the denied answer stays in the history.
 */
async function decideAnswer(turn: Turn, decided: DecidedAnswer, message: UserMessage | undefined): Promise<void> {
  const { run } = turn;
  const { conversation, end } = run;
  const { recorder } = run.attached;
  if (message !== undefined) conversation.enqueueFirst([message]);
  if (end.verdict !== undefined) return conversation.addQueued();
  if (recorder !== undefined) await recorded(run, recorder.decide(run));
  const { index, decision } = decided;
  const { content } = conversation.history[index] as AssistantMessage;
  const record = { by: 'resume', point: 'resume' } as const;
  conversation.resuming = undefined;
  if (decision === 'approve') {
    replaceAt(run, index, { role: 'assistant', content });
    run.record({ ...record, type: 'approve' });
    await giveAnswer(turn, textOf({ role: 'assistant', content }), index);
  } else {
    replaceAt(run, index, { role: 'assistant', content, denied: true });
    const reason = decision === 'deny' ? undefined : decision.deny;
    run.record({ ...record, type: 'block', reason });
    conversation.push({ role: 'user', content: deniedAnswer(reason) });
    conversation.addQueued();
  }
}

function replaceAt({ conversation }: Run, index: number, answer: AssistantMessage): void {
  conversation.replace(conversation.history.with(index, answer));
}

/** Makes the text the answer of the run. If the history has messages after it, the run goes on with a model call. */
async function giveAnswer({ run, events }: Turn, text: string, index: number): Promise<void> {
  const { conversation } = run;
  events?.replaceText(text);
  if (index < conversation.history.length - 1) return conversation.addQueued();
  run.answer = text;
  await reviewAnswer(run);
}
