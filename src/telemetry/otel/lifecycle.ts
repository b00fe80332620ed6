import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { boolean, whole, withMethods } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { errorType } from './attributes.js';
import { Backend } from './backend.js';
import { traceModelCall, traceToolCall } from './calls.js';
import { isSuspended, TracedRun } from './run.js';

/** Where spans and metrics go, and how much they say. */
export interface OpenTelemetryOptions {
  /** Default: the global one, as it is at each span. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Default: the global one, as it is at each measurement. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether spans hold what was said: messages, instructions, tools with their arguments and results, and the messages and
   * stacks of errors. Default: false.
   */
  readonly content?: boolean | undefined;
  /** The longest attribute with content, in characters. Default: 32,768. */
  readonly contentLimit?: number | undefined;
}

const DEFAULT_CONTENT_LIMIT = 32_768;
const rules = {
  tracerProvider: withMethods('getTracer'),
  meterProvider: withMethods('getMeter'),
  content: boolean,
  contentLimit: whole(64),
} satisfies OptionTable<OpenTelemetryOptions>;

/**
 * Makes a lifecycle that writes a span and a duration for every run, model call and tool call, by the GenAI semantic
 * conventions, and the tokens of every model call. It changes nothing, and whatever fails in OpenTelemetry is logged
 * once and passed over. One may serve several agents.
 *
 * It is outermost (priority 100): a retry by another part is inside one span. `{ ...openTelemetry(), priority: 0 }` is
 * innermost and sees each attempt, with the request that the model is sent.
 *
 * @example
 * const agent = new Agent({ model, lifecycle: [openTelemetry()] });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): AgentLifecycle {
  validateOptions(options, rules);
  const { content = false, contentLimit = DEFAULT_CONTENT_LIMIT } = options;
  const backend = new Backend({ ...options, content, contentLimit });
  const runs = new WeakMap<RunContext, TracedRun>();
  return {
    name: 'open-telemetry',
    priority: 100,
    onFailure: 'continue',
    beforeAgent(input, run) {
      runs.set(run, new TracedRun(backend, run, input));
    },
    wrapModelCall(request, next) {
      const traced = runs.get(request.run);
      return traced === undefined ? next() : traceModelCall(traced, request, next);
    },
    wrapToolCall(call, next) {
      const traced = runs.get(call.run);
      return traced === undefined ? next() : traceToolCall(traced, call, next);
    },
    afterAgent(text, run) {
      runs.get(run)?.end({ status: isSuspended(run) ? 'suspended' : 'completed', text });
    },
    onError(error, run) {
      runs.get(run)?.end({ status: 'failed', errorType: errorType(error), error });
    },
  };
}
