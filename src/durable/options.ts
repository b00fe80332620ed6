import { callable, numberRule, required, texts, whole, withMethods } from '../internal/options/rules.js';
import { invalidOption, type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { BlobStore, Step } from './step.js';

/** Options of {@link durable}. */
export interface DurableOptions {
  /** The steps of the engine: `restateStep(ctx)`, `dbosStep()`, or steps that you create with `defineStep`. */
  readonly step: Step;
  /**
   * Names of lifecycles whose hooks run as steps, so that a replay does not run them again. Name lifecycles whose hooks
   * are not deterministic or have side effects.
   *
   * Applies to `beforeAgent`, `beforeModel`, `beforeToolSelection`, `afterModel`, `afterAgent` and `onError`. Wrap
   * hooks always run inside a step.
   */
  readonly hooks?: readonly string[] | undefined;
  /**
   * Names of lifecycles whose wrap hooks run around the steps instead of inside them. These hooks run again on a
   * replay, for example to count calls again. Default: `['limits']`.
   */
  readonly outside?: readonly string[] | undefined;
  /**
   * Maximum number of attempts of a model call that fails with a retryable error. Each attempt is a separate step.
   * Default: 3.
   */
  readonly maxAttempts?: number | undefined;
  /** Stores large byte arrays, such as images, outside the engine. Default: the engine stores them, as base64. */
  readonly blobs?: BlobStore | undefined;
  /** Byte arrays above this length are stored in `blobs` instead of the engine. Default: 65,536. */
  readonly maxInlineBytes?: number | undefined;
}

/** The options with their defaults. */
export interface ResolvedOptions {
  readonly step: Step;
  readonly hooks: readonly string[];
  readonly outside: readonly string[];
  readonly maxAttempts: number;
  readonly blobs: BlobStore | undefined;
  readonly maxInlineBytes: number;
}

const rules = {
  step: required(callable),
  hooks: texts,
  outside: texts,
  maxAttempts: whole(1),
  blobs: withMethods('put', 'get'),
  maxInlineBytes: numberRule('a number of bytes, 0 or more', 0),
} satisfies OptionTable<DurableOptions>;

/** Checks the options and fills in the defaults. */
export function resolveDurableOptions(options: DurableOptions): ResolvedOptions {
  validateOptions(options, rules);
  const { step, blobs, hooks = [], outside = ['limits'], maxAttempts = 3, maxInlineBytes = 65_536 } = options;
  if (typeof step.id !== 'string' || step.id === '') {
    throw invalidOption('step.id', 'a string that identifies the execution, the same in each attempt', step.id);
  }
  const both = hooks.find((name) => outside.includes(name));
  if (both !== undefined) throw invalidOption('hooks', 'names that `outside` does not contain', both);
  return { step, blobs, hooks, outside, maxAttempts, maxInlineBytes };
}
