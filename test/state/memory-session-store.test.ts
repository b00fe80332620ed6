import { MemorySessionStore } from '../../src/state/memory-session-store.js';
import { testSessionStore } from '../support/state/session-store-contract.js';

testSessionStore('MemorySessionStore', () => new MemorySessionStore());
