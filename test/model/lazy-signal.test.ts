import { expect, test } from 'vitest';
import { hasSameSignal, keepSignal, LazyRequest, ownSignal, withMessages } from '../../src/model/lazy-signal.js';
import type { Model, ModelRequest } from '../../src/model/model.js';

const model: Model = { id: 'm', generate: () => Promise.reject(new Error('not called')) };

function lazyRequest() {
  const { signal } = new AbortController();
  let reads = 0;
  const stop = {
    get signal() {
      reads += 1;
      return signal;
    },
  };
  const request = new LazyRequest({ messages: [], tools: [], model, run: 'r' }, { stop });
  const plain: ModelRequest = request;
  return { request, plain, signal, reads: () => reads };
}

test.each([false, true])(
  'a copy with other messages has the same signal, and nothing creates it (own: %s)',
  (owned) => {
    const { request, signal, reads } = lazyRequest();
    if (owned) ownSignal(request);
    const messages = [{ role: 'user', content: 'a' }] as const;
    const copy = withMessages(withMessages(request, []), messages);

    expect(hasSameSignal(request, copy)).toBe(true);
    expect(reads()).toBe(0);
    expect(copy.signal).toBe(signal);
    expect(Object.hasOwn(copy, 'signal')).toBe(owned);
    expect({ ...copy }).toEqual({ messages, tools: [], model, run: 'r', ...(owned ? { signal } : {}) });
  },
);

test('a copy that has its own signal or no signal differs', () => {
  const { plain: request, signal } = lazyRequest();
  ownSignal(request);

  expect(hasSameSignal(request, { ...request })).toBe(true);
  expect(hasSameSignal(request, { ...request, signal: new AbortController().signal })).toBe(false);
  expect(hasSameSignal({ ...request, signal: undefined }, request)).toBe(false);
  expect(withMessages({ ...request }, []).signal).toBe(signal);
});

test('a copy without the property keeps the signal, and a signal that was set or removed stays as it is', () => {
  const { plain: request, signal, reads } = lazyRequest();
  const { signal: other } = new AbortController();
  const marked = { ...request, tools: [], note: 'mine' };

  const kept = keepSignal<ModelRequest>(marked, request);

  expect(reads()).toBe(0);
  expect(kept).toMatchObject({ signal, run: 'r', note: 'mine' });
  expect(keepSignal({ ...request, signal: undefined }, request).signal).toBeUndefined();
  expect(keepSignal({ ...request, signal: other }, request).signal).toBe(other);
});
