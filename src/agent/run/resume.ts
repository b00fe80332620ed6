import type { Message } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import type { ResumeDecision, ResumedCalls } from './continuation.js';
import type { Run } from './run.js';
import { ToolBatch } from './tool-batch.js';

/**
 * The calls of a resumed run as a batch: approved ones run, through the wraps, denied ones have an error result. What
 * was said after the calls joins after their results.
 */
export function resumedBatch(run: Run, resumed: ResumedCalls, message: Message | undefined): ToolBatch {
  const { calls, results, open, decisions, later } = resumed;
  run.addFirst(message === undefined ? later : [...later, message]);
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
  return new ToolBatch(run, calls, { results: known, approved: true });
}
