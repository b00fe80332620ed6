import { MemoryStateStore } from '../../src/state/memory-state-store.js';
import { fakeClock } from '../agent/support/fake-clock.js';
import { testStateStore } from './state-store-contract.js';

testStateStore('MemoryStateStore', () => {
  const clock = fakeClock();
  return { store: new MemoryStateStore({ clock }), pass: (ms) => clock.advance(ms) };
});
