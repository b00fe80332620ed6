import { expect, test } from 'vitest';
import { addLazySignal, hasSameSignal, withMessages } from '../../src/model/lazy-signal.js';
import type { ModelRequest } from '../../src/model/model.js';

function lazyRequest() {
  const { signal } = new AbortController();
  let reads = 0;
  const stop = {
    get signal() {
      reads += 1;
      return signal;
    },
  };
  const request = addLazySignal<ModelRequest>({ messages: [], tools: [] }, { stop });
  return { request, signal, reads: () => reads };
}

test('a copy with other messages has the same signal, and nothing creates the signal', () => {
  const { request, signal, reads } = lazyRequest();
  const messages = [{ role: 'user', content: 'a' }] as const;
  const copy = withMessages(withMessages(request, []), messages);

  expect(hasSameSignal(request, copy)).toBe(true);
  expect(reads()).toBe(0);
  expect(copy.signal).toBe(signal);
  expect({ ...copy }).toEqual({ messages, tools: [], signal });
  expect(copy.messages).toBe(messages);
});

test('a copy that has its own signal or no signal differs', () => {
  const { request, signal } = lazyRequest();

  expect(hasSameSignal(request, { ...request })).toBe(true);
  expect(hasSameSignal(request, { ...request, signal: new AbortController().signal })).toBe(false);
  expect(hasSameSignal({ ...request, signal: undefined }, request)).toBe(false);
  expect(withMessages({ ...request }, []).signal).toBe(signal);
});
