import { type Attributes, type Context, context, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import type { Decision } from '../../lifecycle/decision.js';
import { hookRunOf, type RunOutcome } from '../../lifecycle/hook-run/hook-run.js';
import type { RunReport } from '../../lifecycle/hook-run/run-reports.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { AssistantPart, Message } from '../../model/message.js';
import type { ToolRun } from '../../tools/tool.js';
import {
  agentAttributes,
  cacheMissAttributes,
  decisionAttributes,
  errorType,
  failureAttributes,
  usageAttributes,
} from './attributes.js';
import type { Backend } from './backend.js';
import { answerJson, cut, messagesJson } from './content.js';
import { AGENT_DURATION, ATTRIBUTE, CACHE_MISS, DECISION, OPERATION, SERVER_ERROR } from './conventions.js';
import { Operation, type OperationStart } from './operation.js';

/** OpenTelemetry context key for the run of the active span. */
const RUN = Symbol.for('keelson.otel.run');
/** OpenTelemetry context key for the id of the tool call of the active span. */
const CALL = Symbol.for('keelson.otel.call');

/** The traced runs of all agents, so that a nested run finds the run that started it. */
const runs = new WeakMap<ToolRun, TracedRun>();

/** A run with its span, and the spans of its calls that have not ended. */
export class TracedRun {
  readonly operation: Operation;
  /** The input of the run. Undefined if content is not recorded. */
  readonly input: string | undefined;
  /** The finish reason of the latest model response, recorded on the span of the run. */
  finishReason: string | undefined = undefined;
  readonly backend: Backend;
  private readonly run: RunContext;
  /** The traced run of the first agent. After a handover, the spans of the other agents are children of its span. */
  readonly first: TracedRun;
  /** True after the run has ended, or was handed over to another agent. */
  isOver = false;
  private readonly calls = new Set<Operation>();
  /** Approvals of tool calls whose spans do not exist yet. Each is added to the span of its call when it starts. */
  private approvals: Decision[] = [];

  constructor(backend: Backend, run: RunContext, input: string) {
    this.backend = backend;
    this.input = backend.content ? input : undefined;
    this.run = run;
    const parent = backend.attempt(run, () => parentOf(run)) ?? ROOT_CONTEXT;
    this.operation = new Operation(backend, run, {
      name: `${OPERATION.agent} ${run.agent}`,
      kind: SpanKind.INTERNAL,
      parent: parent.setValue(RUN, run).deleteValue(CALL),
      attributes: () => agentAttributes(run),
      duration: { specs: [AGENT_DURATION], attributes: () => ({ [ATTRIBUTE.agent]: run.agent }) },
    });
    const earlier = runs.get(run);
    this.first = earlier?.isOver ? earlier.first : this;
    runs.set(run, this);
    this.listen();
  }

  /** Starts the span of a model call or a tool call. */
  begin(start: Omit<OperationStart, 'parent'>): Operation {
    const callId = start.call?.id;
    const { context: own } = this.operation;
    const parent = callId === undefined ? own : own.setValue(CALL, callId);
    const call = new Operation(this.backend, this.run, { ...start, parent });
    this.calls.add(call);
    const isOfCall = (decision: Decision) => callId !== undefined && decision.call?.id === callId;
    for (const decision of this.approvals.filter(isOfCall)) this.noteOn(call, decision);
    this.approvals = this.approvals.filter((decision) => !isOfCall(decision));
    return call;
  }

  leave(call: Operation): void {
    this.calls.delete(call);
  }

  /**
   * Ends the span of the run and the spans of its unfinished calls, because a run that ends early does not wait for its
   * calls.
   */
  private end(outcome: RunOutcome): void {
    this.isOver = true;
    const isFailed = outcome.status === 'failed';
    const failure = isFailed ? { errorType: errorType(outcome.error), error: outcome.error } : undefined;
    const { run, finishReason } = this;
    for (const call of this.calls) call.interrupt();
    this.calls.clear();
    for (const decision of this.approvals) this.noteOn(this.operation, decision);
    this.operation.end({
      ...failure,
      attributes: () => ({
        ...usageAttributes(run.usage),
        [ATTRIBUTE.finishReasons]: finishReason === undefined ? undefined : [finishReason],
        [ATTRIBUTE.runStatus]: outcome.status,
        ...failureAttributes(isFailed ? outcome.error : undefined),
        ...this.texts(isFailed ? undefined : outcome.text),
      }),
    });
  }

  /**
   * Returns the OpenTelemetry context of a tool call. Returns the context of the run if `callId` is undefined, or if
   * the call has no open span.
   */
  contextOf(callId: string | undefined): Context {
    return (this.callOf(callId) ?? this.operation).context;
  }

  private callOf(callId: string | undefined): Operation | undefined {
    return callId === undefined ? undefined : [...this.calls].find(({ call }) => call?.id === callId);
  }

  /**
   * Listens for decisions, reports and the end of the run. Does not use the hook `afterAgent`, because later hooks may
   * still decide or fail.
   */
  private listen(): void {
    const hookRun = hookRunOf(this.run);
    if (hookRun === undefined) return;
    const { decisions, onDecision, onReport, onEnd } = hookRun;
    for (const decision of decisions) this.note(decision);
    hookRun.onDecision = (decision) => {
      onDecision?.(decision);
      this.note(decision);
    };
    hookRun.onReport = (news) => {
      onReport?.(news);
      this.noteReport(news);
    };
    hookRun.onEnd = (outcome) => {
      onEnd?.(outcome);
      this.backend.attempt(this.run, () => this.end(outcome));
    };
  }

  private note(decision: Decision): void {
    const { type, call } = decision;
    if (type === 'approve' && call !== undefined) this.approvals.push(decision);
    else this.noteOn(this.spanOf(decision), decision);
  }

  private noteReport(news: RunReport): void {
    const { operation } = this;
    if (news.type === 'cache-miss') operation.note(CACHE_MISS, () => cacheMissAttributes(news));
    if (news.type !== 'server-error') return;
    for (const { name, state } of news.servers) {
      operation.note(SERVER_ERROR, () => ({ [ATTRIBUTE.server]: name, [ATTRIBUTE.serverState]: state }));
    }
  }

  /** Returns the open span of the call that a decision is about, or else the span of the run. */
  private spanOf({ call, point }: Decision): Operation {
    const chat = [...this.calls].findLast(({ kind }) => kind === SpanKind.CLIENT);
    return (point === 'wrapModelCall' ? chat : this.callOf(call?.id)) ?? this.operation;
  }

  private noteOn(operation: Operation, decision: Decision): void {
    const { content, contentLimit } = this.backend;
    const reason = content && decision.reason ? { [ATTRIBUTE.decisionReason]: cut(decision.reason, contentLimit) } : {};
    operation.note(DECISION, () => ({ ...decisionAttributes(decision), ...reason }));
  }

  /** Returns the input and the final text of the run as attributes, if content is recorded. */
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

/**
 * Returns the OpenTelemetry context for the parent span of a run. Usually this is the active context. If the active
 * context does not belong to the tool call or run that started this run, returns the context of that call or run.
 */
function parentOf(run: RunContext): Context {
  // After a handover, the spans of the other agents are children of the first agent's span.
  const earlier = runs.get(run);
  if (earlier?.isOver) return earlier.first.operation.context;
  const active = context.active();
  let ancestor = run.parent;
  while (ancestor !== undefined && !runs.has(ancestor)) ancestor = ancestor.parent;
  if (ancestor === undefined) return active;
  const callId = run.path?.[ancestor.path?.length ?? 0];
  const isInCall = callId === undefined || active.getValue(CALL) === callId;
  if (isInCall && active.getValue(RUN) === ancestor) return active;
  return runs.get(ancestor)?.contextOf(callId) ?? active;
}
