import { type AssistantMessage, textOf, type UserMessage } from '../../model/message.js';
import type { ResumeDecision } from './continuation.js';
import { weighAnswer } from './output.js';
import type { Run } from './run.js';
import { announceText } from './run-events.js';
import { saveRun } from './turn.js';

/**
 * Applies the decision on the suspended answer at the end of the history. An approved answer becomes the answer of the
 * run, unless messages follow. A denied answer stays in the history, and the model is asked again.
 */
export async function decideAnswer(run: Run, message: UserMessage | undefined): Promise<undefined> {
  const { conversation, end, attached } = run;
  if (end.verdict !== undefined) return undefined;
  if (attached.onResume !== undefined) await end.race(attached.onResume(run));
  const { content } = conversation.history.at(-1) as AssistantMessage;
  const decision = conversation.deciding as ResumeDecision;
  conversation.deciding = undefined;
  if (message !== undefined) conversation.enqueueFirst([message]);
  const record = { by: 'resume', point: 'resume' } as const;
  if (decision === 'approve') {
    run.record({ ...record, type: 'approve' });
    const answer: AssistantMessage = { role: 'assistant', content };
    conversation.replace([...conversation.history.slice(0, -1), answer]);
    end.answer = textOf(answer);
    if (run.listeners.active) announceText(run, end.answer);
    if (conversation.hasQueued || run.config.output !== undefined) await weighAnswer(run);
  } else {
    const reason = decision === 'deny' ? undefined : decision.deny;
    run.record({ ...record, type: 'block', reason });
    conversation.push({
      role: 'user',
      content: `The answer was denied${reason === undefined ? '' : `: ${reason}`}. Answer again.`,
    });
    conversation.flush();
  }
  await saveRun(run);
  return undefined;
}
