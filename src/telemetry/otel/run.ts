import { type Attributes, type Context, context, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { type AssistantPart, type Message, toolCallsOf } from '../../model/message.js';
import type { ToolRun } from '../../tools/tool.js';
import { agentAttributes, usageAttributes } from './attributes.js';
import type { Backend } from './backend.js';
import { answerJson, messagesJson } from './content.js';
import { AGENT_DURATION, ATTRIBUTE, OPERATION } from './conventions.js';
import { Operation, type OperationStart } from './operation.js';

/** Context key of a span's run. */
const RUN = Symbol.for('keelson.otel.run');

/** The traced runs of all agents. A nested run looks up its parent run here. */
const runs = new WeakMap<ToolRun, TracedRun>();

/** Error type of a call that was still running when its run ended. */
const INTERRUPTED = 'interrupted';

/** The end of a run. */
export interface RunEnd {
  readonly status: 'completed' | 'suspended' | 'failed';
  readonly text?: string | undefined;
  readonly errorType?: string | undefined;
  readonly error?: unknown;
}

/** A run with its span, and the spans of its calls in progress. */
export class TracedRun {
  readonly operation: Operation;
  /** The run's input; undefined unless content is recorded. */
  readonly input: string | undefined;
  /** The finish reason of the last response, for the run's span. */
  finishReason: string | undefined = undefined;
  readonly backend: Backend;
  private readonly run: RunContext;
  private readonly calls = new Set<Operation>();

  constructor(backend: Backend, run: RunContext, input: string) {
    this.backend = backend;
    this.input = backend.content ? input : undefined;
    this.run = run;
    const parent = backend.attempt(run, () => parentOf(run)) ?? ROOT_CONTEXT;
    this.operation = new Operation(backend, run, {
      name: `${OPERATION.agent} ${run.agent}`,
      kind: SpanKind.INTERNAL,
      parent: parent.setValue(RUN, run),
      attributes: () => agentAttributes(run),
      duration: { spec: AGENT_DURATION, attributes: () => ({ [ATTRIBUTE.agent]: run.agent }) },
    });
    runs.set(run, this);
  }

  /** Starts the span of a model call or a tool call. */
  begin(start: Omit<OperationStart, 'parent'>): Operation {
    const call = new Operation(this.backend, this.run, { ...start, parent: this.operation.context });
    this.calls.add(call);
    return call;
  }

  /** Removes a settled call. */
  leave(call: Operation): void {
    this.calls.delete(call);
  }

  /**
   * Ends the run's span and the spans of calls in progress, since a run that ends early does not wait for its calls.
   */
  end({ status, errorType, error, text }: RunEnd): void {
    for (const call of this.calls) call.end({ errorType: INTERRUPTED });
    this.calls.clear();
    const { run, finishReason } = this;
    this.operation.end({
      errorType,
      error,
      attributes: () => ({
        ...usageAttributes(run.usage),
        [ATTRIBUTE.finishReasons]: finishReason === undefined ? undefined : [finishReason],
        [ATTRIBUTE.runStatus]: status,
        ...this.texts(text),
      }),
    });
  }

  /**
   * The parent context for a nested run without an active context: the context of the running tool call if there is
   * exactly one, else the context of this run.
   */
  get contextForRun(): Context {
    const [tool, another] = [...this.calls].filter(({ kind }) => kind === SpanKind.INTERNAL);
    return tool !== undefined && another === undefined ? tool.context : this.operation.context;
  }

  /** Returns the run's input and final text as attributes, if content is recorded. */
  private texts(text: string | undefined): Attributes {
    const { content, contentLimit } = this.backend;
    if (!content) return {};
    const answer: AssistantPart[] = [{ type: 'text', text: text ?? '' }];
    const inputMessages: Message[] = [{ role: 'user', content: this.input ?? '' }];
    return {
      [ATTRIBUTE.inputMessages]: this.input ? messagesJson(inputMessages, contentLimit) : undefined,
      [ATTRIBUTE.outputMessages]: text ? answerJson(answer, this.finishReason ?? 'stop', contentLimit) : undefined,
    };
  }
}

/** Returns the active context, or the context of the parent run if the active one is not inside it. */
function parentOf(run: RunContext): Context {
  const active = context.active();
  let ancestor = run.parent;
  while (ancestor !== undefined && !runs.has(ancestor)) ancestor = ancestor.parent;
  if (ancestor === undefined || active.getValue(RUN) === ancestor) return active;
  return runs.get(ancestor)?.contextForRun ?? active;
}

/** True if a successful run ended as suspended: a lifecycle suspended it, or calls have no result. */
export function isSuspended(run: RunContext): boolean {
  // Without open calls, no hook argument shows that a run was suspended.
  return hookRunOf(run)?.end.verdict?.action.type === 'suspend' || hasOpenCalls(run.messages);
}

function hasOpenCalls(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex((message) => toolCallsOf(message).length > 0);
  if (last < 0) return false;
  const results = messages.slice(last + 1).flatMap((message) => (message.role === 'tool' ? message.content : []));
  return toolCallsOf(messages[last] as Message).some(({ id }) => !results.some((result) => result.id === id));
}
