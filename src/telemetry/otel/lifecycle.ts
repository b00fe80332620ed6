import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { boolean, whole, withMethods } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { Backend } from './backend.js';
import { traceModelCall, traceToolCall } from './calls.js';
import { TracedRun } from './run.js';

/** Options of {@link openTelemetry}: the providers to use, and whether content is recorded. */
export interface OpenTelemetryOptions {
  /** The provider of spans. Default: the global provider, looked up at each span. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** The provider of metrics. Default: the global provider, looked up at each measurement. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * True to record content: messages, instructions, tools with their arguments and results, reasons of decisions, and
   * error messages with stacks. Content may be private. Default: false.
   */
  readonly content?: boolean | undefined;
  /** Maximum length of each attribute with content, in characters. Longer content is shortened. Default: 32,768. */
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
 * Creates a lifecycle that records a span and a duration for each run, model call and tool call, and the tokens of each
 * model call. The span of a nested run is a child of the span of its tool call. Each decision of a lifecycle is a span
 * event.
 *
 * Names follow the GenAI semantic conventions. The lifecycle does not change the run. Several agents may share it. The
 * first error of OpenTelemetry is logged, and all are ignored.
 *
 * Its priority of 100 makes it the outermost lifecycle, so the span of a call includes retries by other lifecycles. `{
 * ...openTelemetry(), priority: 0 }` is the innermost one. It records each attempt separately, with the request that
 * the model receives.
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
  };
}
