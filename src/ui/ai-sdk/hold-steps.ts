import { joining, type UIMessageChunk } from './ui-chunk.js';

/** The types of chunks that are held back, because a later `reset-step` may remove them. */
const HELD: readonly UIMessageChunk['type'][] = [
  'text-start',
  'text-delta',
  'text-end',
  'reasoning-start',
  'reasoning-delta',
  'reasoning-end',
  'tool-input-start',
  'tool-input-delta',
];

/**
 * Returns a `push` function for pages with version 6 of the package `ai`. That version rejects `reset-step`,
 * `steering-message`, and a `reason` in a request for approval.
 *
 * Holds back the text of a step until the step has tool calls or ends, because version 6 cannot remove text.
 */
export function holdSteps(push: (chunk: UIMessageChunk) => void): (chunk: UIMessageChunk) => void {
  let held: UIMessageChunk[] = [];
  return (chunk) => {
    if (chunk.type === 'reset-step') held = [];
    else if (HELD.includes(chunk.type)) hold(held, chunk);
    else {
      for (const one of held.splice(0)) push(one);
      push(forVersion6(chunk));
    }
  };
}

/** Adds a chunk to the chunks that are held back. Joins deltas, so that a long text needs little memory. */
function hold(held: UIMessageChunk[], chunk: UIMessageChunk): void {
  const last = held.at(-1);
  const key = joining.keyOf(chunk);
  const isSame = last?.type === chunk.type && key !== undefined && joining.keyOf(last) === key;
  if (isSame) held[held.length - 1] = joining.join(last, chunk);
  else held.push(chunk);
}

function forVersion6(chunk: UIMessageChunk): UIMessageChunk {
  if (chunk.type === 'steering-message')
    return { type: 'data-steering-message', id: chunk.id, data: { parts: chunk.parts } };
  if (chunk.type !== 'tool-approval-request') return chunk;
  const { reason: _, ...request } = chunk;
  return request;
}
