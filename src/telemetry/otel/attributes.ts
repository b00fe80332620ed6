import type { Attributes } from '@opentelemetry/api';
import { KeelsonError } from '../../errors.js';
import type { ModelCallRequest, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Model, ModelResponse, Usage } from '../../model/model.js';
import { ModelError } from '../../model/run-error.js';
import { cut } from './content.js';
import { ATTRIBUTE, FINISH_REASON, OPERATION } from './conventions.js';

/** What stands for the name of a tool that does not exist: a model can make up any number of names. */
const UNKNOWN_TOOL = '_OTHER';

const MAX_NAME = 200;

/** A run, as its span begins. */
export function agentAttributes(run: RunContext): Attributes {
  return {
    [ATTRIBUTE.operation]: OPERATION.agent,
    ...modelAttributes(run.model),
    [ATTRIBUTE.agent]: run.agent,
    ...conversation(run),
    [ATTRIBUTE.runId]: run.id,
  };
}

/** A model call, as its span begins. */
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

/** A tool call, as its span begins. */
export function toolAttributes(call: ToolCallRequest, limit: number): Attributes {
  const description = call.tool?.description;
  return {
    [ATTRIBUTE.operation]: OPERATION.tool,
    ...toolLabels(call),
    [ATTRIBUTE.toolDescription]: description && cut(description, limit),
    [ATTRIBUTE.toolCall]: call.id,
  };
}

/** What the metrics of a tool call are told apart by. */
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

/** The model and its provider: what the metrics of a model call are told apart by. */
export function modelAttributes({ id, provider }: Model): Attributes {
  return { [ATTRIBUTE.provider]: provider ?? 'unknown', [ATTRIBUTE.model]: id };
}

/** Why the model stopped, in the words of the conventions. */
export function finishReasonOf({ finishReason }: ModelResponse): string {
  return FINISH_REASON[finishReason] ?? finishReason;
}

/** Tokens, where there are any. */
export function usageAttributes(usage: Usage): Attributes {
  return {
    [ATTRIBUTE.inputTokens]: usage.inputTokens,
    [ATTRIBUTE.outputTokens]: usage.outputTokens,
    [ATTRIBUTE.cachedTokens]: usage.cachedInputTokens,
    [ATTRIBUTE.reasoningTokens]: usage.reasoningTokens,
  };
}

/** The tokens between two readings of a run's sum. */
export function usageBetween(before: Usage, after: Usage): Usage {
  const { cachedInputTokens: cached, reasoningTokens: reasoning } = after;
  return {
    inputTokens: after.inputTokens - before.inputTokens,
    outputTokens: after.outputTokens - before.outputTokens,
    totalTokens: after.totalTokens - before.totalTokens,
    ...(cached !== undefined && { cachedInputTokens: cached - (before.cachedInputTokens ?? 0) }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning - (before.reasoningTokens ?? 0) }),
  };
}

/** A word of few for what went wrong: a model's HTTP status, else the code of an error of ours, else its class. */
export function errorType(error: unknown): string {
  if (error instanceof ModelError) {
    if (error.status !== undefined) return String(error.status);
    if (error.cause instanceof KeelsonError) return error.cause.code;
  }
  if (error instanceof KeelsonError) return error.code;
  return errorName(error);
}

/** The class of an error. */
export function errorName(error: unknown): string {
  return error instanceof Error && typeof error.name === 'string' && error.name !== ''
    ? error.name.slice(0, MAX_NAME)
    : '_OTHER';
}

function conversation({ session }: RunContext): Attributes {
  return { [ATTRIBUTE.conversation]: session?.id };
}
