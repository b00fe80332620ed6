import { deniedAnswer } from '../../../model/denial.js';
import { type AssistantMessage, textOf, type UserMessage } from '../../../model/message.js';
import { weighAnswer } from '../output.js';
import type { Run } from '../run.js';
import { announceText } from '../run-events.js';
import { saveRun } from '../turn.js';
import type { DecidedAnswer } from './continuation.js';

/**
 * Applies the decision on a suspended answer. An approved answer ends the run. If the history has messages after the
 * answer, or the caller passes one, the model is called to answer these first. After a denial, the model is called again;
 * the denied answer stays in the history.
 */
export async function decideAnswer(run: Run, message: UserMessage | undefined): Promise<undefined> {
  const { conversation, end, attached } = run;
  if (message !== undefined) conversation.enqueueFirst([message]);
  if (end.verdict !== undefined) {
    conversation.flush();
    return undefined;
  }
  if (attached.onResume !== undefined) await end.race(attached.onResume(run));
  const { index, decision } = conversation.deciding as DecidedAnswer;
  conversation.deciding = undefined;
  const { content } = conversation.history[index] as AssistantMessage;
  const isApproved = decision === 'approve';
  const answer: AssistantMessage = { role: 'assistant', content, ...(!isApproved && { denied: true }) };
  conversation.replace(conversation.history.map((known, at) => (at === index ? answer : known)));
  const record = { by: 'resume', point: 'resume' } as const;
  if (isApproved) {
    run.record({ ...record, type: 'approve' });
    await giveAnswer(run, answer, index);
  } else {
    const reason = decision === 'deny' ? undefined : decision.deny;
    run.record({ ...record, type: 'block', reason });
    conversation.push({ role: 'user', content: deniedAnswer(reason) });
    conversation.flush();
  }
  await saveRun(run);
  return undefined;
}

/** Makes the answer the answer of the run. If the history has messages after it, the run goes on with a model call. */
async function giveAnswer(run: Run, answer: AssistantMessage, index: number): Promise<void> {
  const { conversation, end, config } = run;
  const text = textOf(answer);
  if (run.listeners.active) announceText(run, text);
  if (index < conversation.history.length - 1) {
    conversation.flush();
    return;
  }
  end.answer = text;
  if (conversation.hasQueued || config.output !== undefined) await weighAnswer(run);
}
