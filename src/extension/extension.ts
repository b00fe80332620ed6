/**
 * Callback extensions: callbacks on messages, tags and answers, prompt additions and tool guidance, with state.
 *
 * @packageDocumentation
 */
export { MemoryStateStore, type MemoryStateStoreOptions } from '../state/memory-state-store.js';
export type { StatePolicy, StateView } from '../state/state-store.js';
export type { MetricLabels, MetricsSink } from '../telemetry/metrics.js';
export type { ExtensionContext, TagContext } from './context.js';
export {
  type AdditionCondition,
  type AnnotatedOutput,
  defineExtension,
  type Extension,
  type ExtensionInput,
  type ExtensionLiteral,
  type InputResult,
  type OutputResult,
  type PromptAddition,
  type RegisteredExtension,
  type TagCallback,
  type TagHandler,
  type TextResult,
  type ToolConfig,
} from './definition.js';
export {
  ExtensionExpiredError,
  ExtensionInvalidError,
  StateLimitError,
  StateMismatchError,
  StateStoreError,
  StateValueError,
} from './error.js';
export type { ExtensionRegistryOptions } from './options.js';
export { ExtensionRegistry, extensions, type RegisterOptions } from './registry.js';
export { type ShortCircuit, shortCircuit } from './short-circuit.js';
export type { StateCodec } from './state/state-codec.js';
export type { StateAlert } from './state/store-access.js';
