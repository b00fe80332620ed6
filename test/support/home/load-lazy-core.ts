import { LAZY_CORE } from '../../../scripts/entries.mjs';

const LOADED = Symbol.for('keelson.lazy-core');
// Global, because each test file of a worker runs this module again.
const worker = globalThis as { [LOADED]?: true };

// The core loads this code on first use. A test with a clock of its own would advance the clock before the load ends.
if (worker[LOADED] === undefined) {
  for (const source of Object.values(LAZY_CORE)) await import(new URL(`../../../${source}`, import.meta.url).href);
  worker[LOADED] = true;
}
