import type { Joining } from '../sse/event-queue.js';
import type { UIMessageChunk } from './ui-chunk.js';

/** Joins the deltas of one part or one tool call, and keeps only the latest progress of a tool call. */
export const joining: Joining<UIMessageChunk> = {
  keyOf(chunk) {
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return chunk.id;
    if (chunk.type === 'tool-input-delta') return chunk.toolCallId;
    return chunk.type === 'tool-output-available' && chunk.preliminary ? chunk.toolCallId : undefined;
  },
  join(waiting, next) {
    if ('delta' in next) return { ...next, delta: (waiting as typeof next).delta + next.delta };
    if (next.type !== 'tool-input-delta') return next;
    return { ...next, inputTextDelta: (waiting as typeof next).inputTextDelta + next.inputTextDelta };
  },
};
