import type { Message } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import type { ResumeDecision, ResumedCalls } from './continuation.js';
import type { Run } from './run.js';
import { TurnCalls } from './tool-calls.js';

/**
 * The open calls of a resumed run: approved ones run, through the wraps; denied ones have an error result. The messages
 * that followed the calls join after their results.
 */
export function resumedCalls(run: Run, resumed: ResumedCalls, message: Message | undefined): TurnCalls {
  const { calls, results, open, decisions, later } = resumed;
  run.conversation.enqueueFirst(message === undefined ? later : [...later, message]);
  const known = new Map<string, ToolResult>(results.map((result) => [result.id, result]));
  for (const { id, name } of open) {
    const decision = decisions[id] as ResumeDecision;
    const record = { by: 'resume', point: 'resume', call: { id, name } } as const;
    if (decision === 'approve') {
      run.record({ ...record, type: 'approve' });
      continue;
    }
    const reason = decision === 'deny' ? undefined : decision.deny;
    run.record({ ...record, type: 'block', reason });
    known.set(id, errorResult(reason === undefined ? 'The call was denied.' : `The call was denied: ${reason}`));
  }
  return new TurnCalls(run, calls, { results: known, approved: true });
}
