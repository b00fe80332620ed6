import { MemorySessionStore } from '../../src/state/memory-session-store.js';
import { testSessionStore } from './session-store-contract.js';

testSessionStore('MemorySessionStore', () => new MemorySessionStore());
