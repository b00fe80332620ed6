import { listOf, model, oneOf, required } from '../internal/options/rules.js';
import { invalidOption, type OptionTable, validateOption, validateOptions } from '../internal/options/validate.js';
import { report } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { Model } from '../model/model.js';
import { ModelError, type ModelErrorKind } from '../model/run-error.js';

/** Options of `fallbackModels`: the failures after which the next model is called. */
export interface FallbackOptions {
  /**
   * The kinds of failure after which the next model is called. A failure of another kind is thrown at once. Default:
   * all kinds.
   */
  readonly on?: readonly ModelErrorKind[] | undefined;
}

const KINDS: Readonly<Record<ModelErrorKind, true>> = {
  'context-overflow': true,
  'rate-limit': true,
  quota: true,
  overloaded: true,
  'content-filter': true,
  auth: true,
  'invalid-request': true,
  'tool-format': true,
  empty: true,
  network: true,
  unknown: true,
};

const rules = { on: listOf(oneOf(...Object.keys(KINDS))) } satisfies OptionTable<FallbackOptions>;

/**
 * Makes a lifecycle that calls the next of these models when a model call fails, for any reason or for the kinds in
 * `on`. If all models fail, the error of the last model is thrown. Each model call of the run tries the run's own model
 * first.
 *
 * Each change of the model emits a `model-error` event. Without a listener for this event, a warning is logged.
 *
 * Priority 40: outside `retryModelCalls`, so that each model gets its retries before the next model is called.
 *
 * @example
 * const agent = new Agent({ model, lifecycle: [retryModelCalls(), fallbackModels([smallerModel, otherVendor])] });
 *
 * @example
 * const inTrouble = fallbackModels([otherVendor], { on: ['rate-limit', 'overloaded', 'network'] });
 */
export function fallbackModels(models: readonly Model[], options: FallbackOptions = {}): AgentLifecycle {
  validateOption('models', models, required(listOf(model)));
  validateOptions(options, rules);
  const kinds = options.on && new Set(options.on);
  if (models.length === 0) throw invalidOption('models', 'an array with at least one model', models);
  return {
    name: 'fallback-models',
    priority: 40,
    async wrapModelCall(request, next) {
      let current = request;
      for (const model of models) {
        try {
          return await next(current);
        } catch (error) {
          if (!(error instanceof ModelError) || kinds?.has(error.kind) === false) throw error;
          const news = { type: 'model-error', error, action: 'fallback', model: model.id, delayMs: 0 } as const;
          report(request.run, news, `${error.message}; calling model "${model.id}" instead`);
          current = { ...request, model };
        }
      }
      return next(current);
    },
  };
}
