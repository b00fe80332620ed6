import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { describeError } from '../../errors.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { errorName } from './attributes.js';
import type { Backend } from './backend.js';
import { cut } from './content.js';
import { ATTRIBUTE, type HistogramSpec } from './conventions.js';

/** The error type of a call that still ran when its run ended, or whose result was decided before its tool ended. */
const INTERRUPTED = 'interrupted';

/** The values with which an operation starts. */
export interface OperationStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly call?: TracedCall | undefined;
  readonly attributes: () => Attributes;
  /** The histograms for the duration of the operation, with the attributes of the measurement. */
  readonly duration: { readonly specs: readonly HistogramSpec[]; readonly attributes: () => Attributes };
}

/** The tool call that an operation traces. */
export interface TracedCall {
  readonly id: string;
  /**
   * Returns the text of the result that was given to the model before the tool ended. Undefined if the tool still
   * decides the result.
   */
  readonly earlyResult: () => string | undefined;
}

/** The values with which an operation ends. An empty object means success. */
export interface OperationEnd {
  readonly attributes?: () => Attributes;
  /** A short error type for spans and metrics. Set if the operation failed. */
  readonly errorType?: string | undefined;
  /** The value that the operation threw. */
  readonly error?: unknown;
  /** The status message of the failed span. Default: the message of the error. */
  readonly reason?: string | undefined;
  /** True for an operation whose duration must not be recorded, because it did no work. */
  readonly isUntimed?: boolean;
}

/**
 * A traced operation: a run, a model call or a tool call, with its span and its duration. Only its first end counts.
 * Errors of OpenTelemetry are logged and ignored.
 */
export class Operation {
  /** The OpenTelemetry context in which the span of the operation is active. */
  readonly context: Context;
  readonly kind: SpanKind;
  readonly call: TracedCall | undefined;
  private readonly backend: Backend;
  private readonly run: RunContext;
  private readonly span: Span | undefined;
  private readonly startedAt: number;
  private readonly duration: OperationStart['duration'];
  private isOpen = true;

  constructor(backend: Backend, run: RunContext, start: OperationStart) {
    const { name, kind, parent, attributes, call } = start;
    this.kind = kind;
    this.call = call;
    this.duration = start.duration;
    this.backend = backend;
    this.run = run;
    this.startedAt = run.clock.now();
    this.span = backend.attempt(run, () =>
      backend.tracer().startSpan(name, { kind, attributes: attributes() }, parent),
    );
    this.context = this.span === undefined ? parent : trace.setSpan(parent, this.span);
  }

  /** Calls `next` exactly once. The span is active during the call, unless OpenTelemetry fails. */
  within<T>(next: () => Promise<T>): Promise<T> {
    let result = undefined as Promise<T> | undefined;
    this.backend.attempt(this.run, () =>
      context.with(this.context, () => {
        result = next();
      }),
    );
    return result ?? next();
  }

  /** Adds an event to the span of the operation. */
  note(name: string, attributes: () => Attributes): void {
    const { backend, run, span } = this;
    if (span === undefined) return;
    backend.attempt(run, () => span.isRecording() && span.addEvent(name, attributes()));
  }

  /** Ends the operation early, although its tool or model may still be running. */
  interrupt(): void {
    this.end({ errorType: INTERRUPTED, reason: this.call?.earlyResult() });
  }

  end(end: OperationEnd): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const { attributes, errorType } = end;
    if (!end.isUntimed) this.measure(errorType);
    const { backend, run, span } = this;
    if (span === undefined) return;
    backend.attempt(run, () => {
      if (!span.isRecording()) return;
      if (attributes !== undefined) span.setAttributes(attributes());
      if (errorType !== undefined) this.markFailed(span, errorType, end);
    });
    backend.attempt(run, () => span.end());
  }

  private measure(errorType: string | undefined): void {
    const { specs, attributes } = this.duration;
    const seconds = Math.max(0, this.run.clock.now() - this.startedAt) / 1000;
    const failure = errorType === undefined ? {} : { [ATTRIBUTE.errorType]: errorType };
    const point = { value: seconds, attributes: { ...attributes(), ...failure } };
    for (const spec of specs) this.backend.record(this.run, spec, point);
  }

  /**
   * Marks the span as failed. Records the reason, the error message and the stack only if content is recorded, because
   * they can quote the conversation.
   */
  private markFailed(span: Span, errorType: string, { error, reason }: OperationEnd): void {
    const { content, contentLimit } = this.backend;
    const described = error === undefined ? undefined : cut(describeError(error), contentLimit);
    const message = reason === undefined ? described : cut(reason, contentLimit);
    span.setAttribute(ATTRIBUTE.errorType, errorType);
    span.setStatus(content && message ? { code: SpanStatusCode.ERROR, message } : { code: SpanStatusCode.ERROR });
    if (error === undefined) return;
    const exception: { name: string; message?: string; stack?: string } = { name: errorName(error) };
    if (content && described !== undefined) exception.message = described;
    if (content && error instanceof Error && error.stack) exception.stack = cut(error.stack, contentLimit);
    span.recordException(exception);
  }
}
