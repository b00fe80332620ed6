import { type Attributes, type Context, context, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { hookRunOf } from '../../lifecycle/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { type AssistantPart, type Message, toolCallsOf } from '../../model/message.js';
import type { ToolRun } from '../../tools/tool.js';
import { agentAttributes, usageAttributes } from './attributes.js';
import type { Backend } from './backend.js';
import { answerJson, messagesJson } from './content.js';
import { AGENT_DURATION, ATTRIBUTE, OPERATION } from './conventions.js';
import { Operation, type OperationStart } from './operation.js';

/** In the context of a span: the run that it is part of. */
const RUN = Symbol.for('keelson.otel.run');

/** The runs that have a span, whichever agent they are of: a run looks for its parent here. */
const runs = new WeakMap<ToolRun, TracedRun>();

/** What ended the wait for a call that has not settled as its run ends. */
const INTERRUPTED = 'interrupted';

/** How a run ended. */
export interface RunEnd {
  readonly status: 'completed' | 'suspended' | 'failed';
  readonly text?: string | undefined;
  readonly errorType?: string | undefined;
  readonly error?: unknown;
}

/** One run: its span, and those of its calls that are going on. */
export class TracedRun {
  readonly operation: Operation;
  /** What the run was asked, kept where spans hold content. */
  readonly input: string | undefined;
  /** The last response's, for the run's own span. */
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

  /** Begins a call of the model or of a tool. */
  begin(start: Omit<OperationStart, 'parent'>): Operation {
    const call = new Operation(this.backend, this.run, { ...start, parent: this.operation.context });
    this.calls.add(call);
    return call;
  }

  /** Forgets a call that has settled. */
  leave(call: Operation): void {
    this.calls.delete(call);
  }

  /** Ends the run's span, and those that were left behind: a run that ends early does not wait for its calls. */
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

  /** The context for a run inside this one that lost it: the tool call's if only one is running. */
  get contextForRun(): Context {
    const [tool, another] = [...this.calls].filter(({ kind }) => kind === SpanKind.INTERNAL);
    return tool !== undefined && another === undefined ? tool.context : this.operation.context;
  }

  /** What the run was asked and what it ended with, as far as spans may hold it. */
  private texts(text: string | undefined): Attributes {
    const { content, contentLimit } = this.backend;
    if (!content) return {};
    const answer: AssistantPart[] = [{ type: 'text', text: text ?? '' }];
    return {
      ...(this.input && {
        [ATTRIBUTE.inputMessages]: messagesJson([{ role: 'user', content: this.input }], contentLimit),
      }),
      ...(text && { [ATTRIBUTE.outputMessages]: answerJson(answer, this.finishReason ?? 'stop', contentLimit) }),
    };
  }
}

/** The active context; that of the parent run, where the active one does not come from inside it. */
function parentOf(run: RunContext): Context {
  const active = context.active();
  let ancestor = run.parent;
  while (ancestor !== undefined && !runs.has(ancestor)) ancestor = ancestor.parent;
  if (ancestor === undefined || active.getValue(RUN) === ancestor) return active;
  return runs.get(ancestor)?.contextForRun ?? active;
}

/** Whether a run that ends well ends as suspended: a part said so, or calls have no result. */
export function isSuspended(run: RunContext): boolean {
  // Without calls, nothing that hooks are shown tells a suspended run from another.
  return hookRunOf(run)?.end.verdict?.action.type === 'suspend' || hasOpenCalls(run.messages);
}

function hasOpenCalls(messages: readonly Message[]): boolean {
  const at = messages.findLastIndex((message) => toolCallsOf(message).length > 0);
  if (at < 0) return false;
  const results = messages.slice(at + 1).flatMap((message) => (message.role === 'tool' ? message.content : []));
  return toolCallsOf(messages[at] as Message).some(({ id }) => !results.some((result) => result.id === id));
}
