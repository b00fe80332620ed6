/**
 * Durable runs: the model calls and tool calls of an agent as steps of an engine that survives crashes.
 *
 * @packageDocumentation
 */
export type { DbosStepSdk } from './dbos/dbos-sdk.js';
export { type DbosDecisionRequest, type DbosStep, dbosStep } from './dbos/dbos-step.js';
export { type DurableLifecycle, durable } from './durable-lifecycle.js';
export {
  BlobStoreError,
  DurableSetupError,
  isFinalError,
  ReplayMismatchError,
  StepDataError,
  StepFailedError,
  StepLostError,
} from './error.js';
export { type JournalEntry, type MemoryStep, type MemoryStepOptions, memoryStep } from './memory-step.js';
export type { DurableOptions } from './options.js';
export { type RestateStep, type RestateStepContext, restateStep } from './restate/restate-step.js';
export {
  type BlobStore,
  type DecisionOptions,
  type DecisionRequest,
  defineStep,
  type Step,
  type StepFunction,
  type StepInfo,
  type StepOptions,
} from './step.js';
