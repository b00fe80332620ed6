/**
 * Durable runs: the model calls and tool calls of an agent as steps of an engine that survives crashes.
 *
 * @packageDocumentation
 */
export {
  type DurableLifecycle,
  durable,
} from './durable-lifecycle.js';
export { DurableSetupError, ReplayMismatchError, StepDataError, StepFailedError } from './error.js';
export { type JournalEntry, type MemoryStepOptions, memoryStep } from './memory-step.js';
export type { DurableOptions } from './options.js';
export type { BlobStore, Step, StepOptions } from './step.js';
