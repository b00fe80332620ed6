import { listOf, model, required } from '../internal/options/rules.js';
import { invalidOption, validateOption } from '../internal/options/validate.js';
import { report } from '../lifecycle/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { Model } from '../model/model.js';
import { ModelError } from '../model/run-error.js';

/**
 * Makes a lifecycle that asks the next of these models where the run's own has failed, for whatever reason, and fails
 * with the last one's error where all have. Each model call begins with the run's own model again. Each change of the
 * model is a `model-error` event; a line in the log when nobody listens to it.
 *
 * Priority 40: outside of `retryModelCalls`, so that a model has failed for good before the next one is asked, and that
 * one is retried as well.
 *
 * @example
 * const agent = new Agent({ model, lifecycle: [retryModelCalls(), fallbackModels([smallerModel, otherVendor])] });
 */
export function fallbackModels(models: readonly Model[]): AgentLifecycle {
  validateOption('models', models, required(listOf(model)));
  if (models.length === 0) throw invalidOption('models', 'an array of one model or more', models);
  return {
    name: 'fallback-models',
    priority: 40,
    async wrapModelCall(request, next) {
      let asked = request;
      for (const model of models) {
        try {
          return await next(asked);
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          const news = { type: 'model-error', error, action: 'fallback', model: model.id, delayMs: 0 } as const;
          report(request.run, news, `${error.message}; model "${model.id}" is asked instead`);
          asked = { ...request, model };
        }
      }
      return next(asked);
    },
  };
}
