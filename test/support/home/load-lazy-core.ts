import { LAZY_CORE } from '../../../scripts/entries.mjs';

// The core loads this code on first use. A load takes real time, in which a test may advance its own clock too early.
for (const source of Object.values(LAZY_CORE)) await import(new URL(`../../../${source}`, import.meta.url).href);
