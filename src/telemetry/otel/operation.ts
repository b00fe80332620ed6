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

/** The start of an operation. */
export interface OperationStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly attributes: () => Attributes;
  /** The histogram for its duration, with its attributes. */
  readonly duration: { readonly spec: HistogramSpec; readonly attributes: () => Attributes };
}

/** The end of an operation. An empty object means success. */
export interface OperationEnd {
  readonly attributes?: () => Attributes;
  /** Set if the operation failed. */
  readonly errorType?: string | undefined;
  /** The thrown value. */
  readonly error?: unknown;
  /** True if its duration is not recorded. */
  readonly isUntimed?: boolean;
}

/** An operation with a span and a duration. Ends only once. Errors of OpenTelemetry are ignored. */
export class Operation {
  /** The context in which the operation's span is active. */
  readonly context: Context;
  readonly kind: SpanKind;
  private readonly backend: Backend;
  private readonly run: RunContext;
  private readonly span: Span | undefined;
  private readonly startedAt: number;
  private readonly duration: OperationStart['duration'];
  private isOpen = true;

  constructor(backend: Backend, run: RunContext, { name, kind, parent, attributes, duration }: OperationStart) {
    this.kind = kind;
    this.duration = duration;
    this.backend = backend;
    this.run = run;
    this.startedAt = run.clock.now();
    this.span = backend.attempt(run, () =>
      backend.tracer().startSpan(name, { kind, attributes: attributes() }, parent),
    );
    this.context = this.span === undefined ? parent : trace.setSpan(parent, this.span);
  }

  /** Calls `next` exactly once, with the span active unless the context manager fails. */
  within<T>(next: () => Promise<T>): Promise<T> {
    let result = undefined as Promise<T> | undefined;
    this.backend.attempt(this.run, () =>
      context.with(this.context, () => {
        result = next();
      }),
    );
    return result ?? next();
  }

  end({ attributes, errorType, error, isUntimed }: OperationEnd): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (!isUntimed) this.measure(errorType);
    const { backend, run, span } = this;
    if (span === undefined) return;
    backend.attempt(run, () => {
      if (!span.isRecording()) return;
      if (attributes !== undefined) span.setAttributes(attributes());
      if (errorType !== undefined) this.markFailed(span, errorType, error);
    });
    backend.attempt(run, () => span.end());
  }

  private measure(errorType: string | undefined): void {
    const { spec, attributes } = this.duration;
    const seconds = Math.max(0, this.run.clock.now() - this.startedAt) / 1000;
    const failure = errorType === undefined ? {} : { [ATTRIBUTE.errorType]: errorType };
    this.backend.record(this.run, spec, { value: seconds, attributes: { ...attributes(), ...failure } });
  }

  /** Error messages and stacks can quote the conversation, so they are recorded only with `content`. */
  private markFailed(span: Span, errorType: string, error: unknown): void {
    const { content, contentLimit } = this.backend;
    const message = content && error !== undefined ? cut(describeError(error), contentLimit) : undefined;
    span.setAttribute(ATTRIBUTE.errorType, errorType);
    span.setStatus(message === undefined ? { code: SpanStatusCode.ERROR } : { code: SpanStatusCode.ERROR, message });
    if (error === undefined) return;
    const exception: { name: string; message?: string; stack?: string } = { name: errorName(error) };
    if (message !== undefined) exception.message = message;
    if (content && error instanceof Error && error.stack) exception.stack = cut(error.stack, contentLimit);
    span.recordException(exception);
  }
}
