/**
 * Callback extensions: callbacks on messages, tags and answers, prompt additions and tool guidance, with state.
 *
 * @packageDocumentation
 */
export { MemoryStateStore, type MemoryStateStoreOptions } from '../state/memory-state-store.js';
export { StateKeyError } from '../state/state-key.js';
export type { ExtensionContext, TagContext } from './extension-context.js';
export {
  type AdditionCondition,
  type AdditionPosition,
  type AnnotatedOutput,
  defineExtension,
  type Extension,
  type ExtensionInput,
  type ExtensionScope,
  type InputResult,
  type OutputResult,
  type PromptAddition,
  type RegisteredExtension,
  type TagCallback,
  type TagHandler,
  type TextResult,
  type ToolConfig,
  type ToolConfigLiteral,
} from './extension-definition.js';
export {
  ExtensionExpiredError,
  ExtensionInvalidError,
  StateLimitError,
  StateMismatchError,
  StateStoreError,
  StateValueError,
} from './extension-error.js';
export { ExtensionRegistry, type RegisterOptions } from './extension-registry.js';
export type { StateAlert } from './extension-state.js';
export type { ExtensionRegistryOptions, StateLimits } from './registry-options.js';
export { type ShortCircuit, shortCircuit } from './short-circuit.js';
export type { StateCodec } from './state-codec.js';
