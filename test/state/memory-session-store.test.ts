import { expect, test } from 'vitest';
import { MemorySessionStore } from '../../src/state/memory-session-store.js';
import { testSessionStore } from '../support/state/session-store-contract.js';

testSessionStore('MemorySessionStore', () => new MemorySessionStore());

test('a watch that is ended twice does not end a later one', () => {
  const store = new MemorySessionStore();
  store.claim('s', { token: 'x', run: 'x', ttlMs: 1_000 });
  const heard: string[] = [];
  const end = store.watch('s', () => heard.push('first'));
  end();
  store.watch('s', () => heard.push('second'));
  end();

  store.post('s', { id: 'p', at: 0, body: { type: 'post', post: { type: 'withdraw', post: 'q' } } });

  expect(heard).toEqual(['second']);
});
