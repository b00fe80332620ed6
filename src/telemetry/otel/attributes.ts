import type { Attributes } from '@opentelemetry/api';
import { KeelsonError } from '../../errors.js';
import type { Decision } from '../../lifecycle/decision.js';
import type { RunReports } from '../../lifecycle/hook-run/run-reports.js';
import type { ModelCallRequest, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { LifecycleError, RejectedError } from '../../lifecycle/run-failure.js';
import { contextSizes } from '../../model/context-sizes.js';
import type { Model, ModelResponse, Usage } from '../../model/model.js';
import { ModelError } from '../../model/run-error.js';
import { cut } from './content.js';
import { ATTRIBUTE, FINISH_REASON, OPERATION } from './conventions.js';

/**
 * Replaces the name of an unknown tool in metrics. A model can invent any number of names, and each would create
 * another time series.
 */
const UNKNOWN_TOOL = '_OTHER';

const MAX_NAME = 200;

/** Returns the attributes that the span of a run has from its start. */
export function agentAttributes(run: RunContext): Attributes {
  return {
    [ATTRIBUTE.operation]: OPERATION.agent,
    ...modelAttributes(run.model),
    [ATTRIBUTE.agent]: run.agent,
    ...conversation(run),
    [ATTRIBUTE.runId]: run.id,
    [ATTRIBUTE.runPath]: run.path && [...run.path],
  };
}

/**
 * Returns the attributes of the span event of a lifecycle's decision. Excludes the reason, because it can quote the
 * conversation.
 */
export function decisionAttributes({ type, by, point, turn, path, call }: Decision): Attributes {
  return {
    [ATTRIBUTE.decision]: type,
    [ATTRIBUTE.decisionBy]: by,
    [ATTRIBUTE.decisionPoint]: point,
    [ATTRIBUTE.decisionTurn]: turn,
    [ATTRIBUTE.runPath]: path && [...path],
    [ATTRIBUTE.toolCall]: call?.id,
  };
}

/** Returns the attributes that the span of a model call has from its start. */
export function chatAttributes({ model, run, settings = {}, output, onPart }: ModelCallRequest): Attributes {
  return {
    [ATTRIBUTE.operation]: OPERATION.chat,
    ...modelAttributes(model),
    ...conversation(run),
    [ATTRIBUTE.temperature]: settings.temperature,
    [ATTRIBUTE.topP]: settings.topP,
    [ATTRIBUTE.maxTokens]: settings.maxOutputTokens,
    [ATTRIBUTE.stopSequences]: settings.stopSequences && [...settings.stopSequences],
    [ATTRIBUTE.seed]: settings.seed,
    [ATTRIBUTE.presencePenalty]: settings.presencePenalty,
    [ATTRIBUTE.frequencyPenalty]: settings.frequencyPenalty,
    [ATTRIBUTE.reasoningLevel]: settings.reasoningEffort,
    [ATTRIBUTE.outputType]: output === undefined ? undefined : 'json',
    [ATTRIBUTE.stream]: onPart === undefined ? undefined : true,
  };
}

/** Returns the attributes that the span of a tool call has from its start. */
export function toolAttributes(call: ToolCallRequest, limit: number): Attributes {
  const description = call.tool?.description;
  return {
    [ATTRIBUTE.operation]: OPERATION.tool,
    ...toolLabels(call),
    [ATTRIBUTE.toolDescription]: description && cut(description, limit),
    [ATTRIBUTE.toolCall]: call.id,
  };
}

/** Returns the attributes for metrics of a tool call. */
export function toolLabels(call: ToolCallRequest): Attributes {
  return {
    [ATTRIBUTE.tool]: toolName(call),
    [ATTRIBUTE.toolType]: 'function',
    [ATTRIBUTE.agent]: call.run.agent,
  };
}

export function toolName({ tool }: ToolCallRequest): string {
  return tool?.name ?? UNKNOWN_TOOL;
}

/** Returns the id and the provider of a model as attributes, for spans and metrics. */
export function modelAttributes({ id, provider }: Model): Attributes {
  return { [ATTRIBUTE.provider]: provider ?? 'unknown', [ATTRIBUTE.model]: id };
}

/** Returns the finish reason of a response by its name in the GenAI semantic conventions. */
export function finishReasonOf({ finishReason }: ModelResponse): string {
  return FINISH_REASON[finishReason] ?? finishReason;
}

/** Returns the token counts as attributes. */
export function usageAttributes(usage: Usage): Attributes {
  return {
    [ATTRIBUTE.inputTokens]: usage.inputTokens,
    [ATTRIBUTE.outputTokens]: usage.outputTokens,
    [ATTRIBUTE.cachedTokens]: usage.cachedInputTokens,
    [ATTRIBUTE.cacheWriteTokens]: usage.cacheWriteTokens,
    [ATTRIBUTE.oldCacheWriteTokens]: usage.cacheWriteTokens,
    [ATTRIBUTE.reasoningTokens]: usage.reasoningTokens,
  };
}

/** Returns the tokens that a run used between two readings of its usage. */
export function usageBetween(before: Usage, after: Usage): Usage {
  return {
    inputTokens: after.inputTokens - before.inputTokens,
    outputTokens: after.outputTokens - before.outputTokens,
    totalTokens: after.totalTokens - before.totalTokens,
    cachedInputTokens: difference(after.cachedInputTokens, before.cachedInputTokens),
    cacheWriteTokens: difference(after.cacheWriteTokens, before.cacheWriteTokens),
    reasoningTokens: difference(after.reasoningTokens, before.reasoningTokens),
  };
}

function difference(after: number | undefined, before = 0): number | undefined {
  return after === undefined ? undefined : after - before;
}

/**
 * Returns a short error type with few possible values: the HTTP status of a model error, else the code of a
 * KeelsonError, else the class name.
 */
export function errorType(error: unknown): string {
  if (error instanceof ModelError) {
    if (error.status !== undefined) return String(error.status);
    if (error.cause instanceof KeelsonError) return error.cause.code;
  }
  if (error instanceof KeelsonError) return error.code;
  return errorName(error);
}

/** Returns the class name of an error. */
export function errorName(error: unknown): string {
  return error instanceof Error && typeof error.name === 'string' && error.name !== ''
    ? error.name.slice(0, MAX_NAME)
    : '_OTHER';
}

/**
 * If a lifecycle ended the run, returns the name of the lifecycle and its hook as attributes. Otherwise returns no
 * attributes.
 */
export function failureAttributes(error: unknown): Attributes {
  if (error instanceof LifecycleError) {
    return { [ATTRIBUTE.failedBy]: error.lifecycle, [ATTRIBUTE.failedPoint]: error.point };
  }
  if (!(error instanceof RejectedError)) return {};
  return { [ATTRIBUTE.failedBy]: error.by, [ATTRIBUTE.failedPoint]: error.point };
}

/**
 * Returns the kind of a model error as an attribute. If the context was too long, also returns its largest source, such
 * as the tools.
 */
export function modelFailureAttributes(error: unknown, request: ModelCallRequest): Attributes {
  if (!(error instanceof ModelError)) return {};
  if (error.kind !== 'context-overflow') return { [ATTRIBUTE.modelFailure]: error.kind };
  const [largest] = Object.entries(contextSizes(request)).sort(([, a], [, b]) => b - a);
  return { [ATTRIBUTE.modelFailure]: error.kind, [ATTRIBUTE.largestSource]: largest?.[0] };
}

/** Returns the attributes of the span event of a prompt cache miss. */
export function cacheMissAttributes({ cause, difference, by }: RunReports['cache-miss']): Attributes {
  return {
    [ATTRIBUTE.missCause]: cause,
    [ATTRIBUTE.missPart]: difference?.part,
    [ATTRIBUTE.missBy]: by.length > 0 ? [...by] : undefined,
  };
}

function conversation({ session }: RunContext): Attributes {
  return { [ATTRIBUTE.conversation]: session?.id };
}
