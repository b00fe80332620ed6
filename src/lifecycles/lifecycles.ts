/**
 * Ready-made lifecycles: retries, fallback models, limits, approval, compaction, shorter tool results, a search for tools; and a seal for
 * suspended runs that a client keeps. Each factory
 * returns an object that several agents may share. To change its order, spread it: `{ ...limits({ … }), priority: 60
 * }`.
 *
 * @packageDocumentation
 */

export type { ModelPrice } from '../model/price.js';
export { type ApprovalAnswer, type ApprovalOptions, approval } from './approval.js';
export { type CompactionOptions, compaction } from './compaction/compaction.js';
export { type FallbackOptions, fallbackModels } from './fallback-models.js';
export { type LimitReached, type LimitsOptions, limits } from './limits.js';
export { type PromptCacheOptions, promptCache } from './prompt-cache.js';
export { type RetryOptions, retryModelCalls } from './retry-model-calls.js';
export { SealInvalidError } from './seal-error.js';
export {
  type OpenedRun,
  type OpenOptions,
  openRun,
  type SealableRun,
  type SealKey,
  type SealOptions,
  sealRun,
} from './sealed-run.js';
export { type ToolSearchOptions, toolSearch } from './tool-search/tool-search.js';
export { type TruncateOptions, truncateToolResults } from './truncate-tool-results.js';
