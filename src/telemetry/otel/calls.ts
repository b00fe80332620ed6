import { type Attributes, SpanKind } from '@opentelemetry/api';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { ModelResponse, Usage } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import {
  chatAttributes,
  errorType,
  finishReasonOf,
  modelAttributes,
  modelFailureAttributes,
  toolAttributes,
  toolLabels,
  toolName,
  usageAttributes,
  usageBetween,
} from './attributes.js';
import type { Backend } from './backend.js';
import { answerJson, boundedJson, contentText, cut, messagesJson, textPart, toolsJson } from './content.js';
import {
  ATTRIBUTE,
  MODEL_DURATION,
  OLD_MODEL_DURATION,
  OLD_TOKEN_USAGE,
  OPERATION,
  OPERATION_TOKENS,
  TOOL_DURATION,
  USED_TOKENS,
} from './conventions.js';
import type { OperationEnd } from './operation.js';
import type { TracedRun } from './run.js';

/** The error type of a tool call whose result has `isError`. */
const TOOL_ERROR = 'tool_error';

/**
 * Runs `next`, which makes the model call, inside a span. Returns the promise of `next` itself, so that tracing does
 * not delay it.
 */
export function traceModelCall(
  traced: TracedRun,
  request: ModelCallRequest,
  next: () => Promise<ModelResponse>,
): Promise<ModelResponse> {
  const { backend } = traced;
  const { model, run } = request;
  const before = run.usage;
  const chat = traced.begin({
    name: `${OPERATION.chat} ${model.id}`,
    kind: SpanKind.CLIENT,
    attributes: () => chatAttributes(request),
    duration: { specs: [MODEL_DURATION, OLD_MODEL_DURATION], attributes: () => chatLabels(request) },
  });
  const settle = (end: OperationEnd, response?: ModelResponse) => {
    const usage = usageBetween(before, run.usage);
    traced.leave(chat);
    chat.end({
      ...end,
      attributes: () => ({
        ...usageAttributes(usage),
        ...modelFailureAttributes(end.error, request),
        ...chatContent(backend, request, response),
      }),
    });
    recordTokens(backend, request, usage);
  };
  const promise = chat.within(next);
  // Neither handler may throw: its rejection would be unhandled.
  promise.then(
    (response) => {
      traced.finishReason = finishReasonOf(response);
      settle({}, response);
    },
    (error) => settle({ errorType: errorType(error), error }),
  );
  return promise;
}

/**
 * Runs `next`, which makes the tool call, inside a span. Returns the promise of `next` itself, so that tracing does not
 * delay it.
 */
export function traceToolCall(
  traced: TracedRun,
  call: ToolCallRequest,
  next: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const { backend } = traced;
  const calls = hookRunOf(call.run)?.end.calls;
  const earlyResult = () => {
    const result = calls?.results.find((part) => part?.id === call.id);
    return result && contentText(result.content, backend.contentLimit);
  };
  const tool = traced.begin({
    name: `${OPERATION.tool} ${toolName(call)}`,
    kind: SpanKind.INTERNAL,
    call: { id: call.id, earlyResult },
    attributes: () => toolAttributes(call, backend.contentLimit),
    duration: { specs: [TOOL_DURATION], attributes: () => toolLabels(call) },
  });
  const settle = (end: OperationEnd) => {
    traced.leave(tool);
    if (earlyResult() === undefined) tool.end(end);
    else tool.interrupt();
  };
  const promise = tool.within(next);
  // Neither handler may throw: its rejection would be unhandled.
  promise.then(
    (result) => {
      const failure = result.isError ? TOOL_ERROR : undefined;
      const error = failure && hookRunOf(call.run)?.toolErrors?.get(call.id);
      const reason = failure && contentText(result.content, backend.contentLimit);
      settle({ errorType: failure, error, reason, attributes: () => toolContent(backend, call, result) });
    },
    (error) => {
      // A suspended call was not executed: it waits for a decision.
      if (isSuspension(error)) settle({ attributes: () => ({ [ATTRIBUTE.callStatus]: 'suspended' }), isUntimed: true });
      else settle({ errorType: errorType(error), error, attributes: () => toolContent(backend, call) });
    },
  );
  return promise;
}

function isSuspension(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 'ERR_CALL_SUSPENDED';
}

function chatLabels({ model }: ModelCallRequest): Attributes {
  return { [ATTRIBUTE.operation]: OPERATION.chat, ...modelAttributes(model) };
}

/** Records the tokens of a model call, including all its retries. Records nothing if no tokens were used. */
function recordTokens(backend: Backend, request: ModelCallRequest, usage: Usage): void {
  const { run } = request;
  const labels = chatLabels(request);
  const { inputTokens, outputTokens, cachedInputTokens: cached, cacheWriteTokens: cacheWrite } = usage;
  const { reasoningTokens: reasoning } = usage;
  for (const [type, value] of [
    ['input', inputTokens],
    ['output', outputTokens],
  ] as const) {
    if (value <= 0) continue;
    backend.record(run, OPERATION_TOKENS[type], { value, attributes: labels });
    backend.record(run, OLD_TOKEN_USAGE, { value, attributes: { ...labels, [ATTRIBUTE.tokenType]: type } });
  }
  // Models do not report how many tokens were text.
  const attributes = { ...labels, [ATTRIBUTE.modality]: 'unknown' };
  const counts = { input: inputTokens, output: outputTokens, cached, cacheWrite, reasoning };
  for (const [type, value = 0] of Object.entries(counts) as [keyof typeof counts, number | undefined][]) {
    if (value > 0) backend.count(run, USED_TOKENS[type], { value, attributes });
  }
}

function chatContent(
  { content, contentLimit }: Backend,
  { messages, tools }: ModelCallRequest,
  response: ModelResponse | undefined,
): Attributes {
  const finish: Attributes = response === undefined ? {} : { [ATTRIBUTE.finishReasons]: [finishReasonOf(response)] };
  if (!content) return finish;
  const system = messages[0]?.role === 'system' ? messages[0].content : undefined;
  const rest = system === undefined ? messages : messages.slice(1);
  return {
    ...finish,
    [ATTRIBUTE.instructions]: system === undefined ? undefined : boundedJson([textPart(system)], contentLimit),
    [ATTRIBUTE.toolDefinitions]: tools.length > 0 ? toolsJson(tools, contentLimit) : undefined,
    [ATTRIBUTE.inputMessages]: messagesJson(rest, contentLimit),
    [ATTRIBUTE.outputMessages]: response && answerJson(response.content, finishReasonOf(response), contentLimit),
  };
}

function toolContent({ content, contentLimit }: Backend, call: ToolCallRequest, result?: ToolResult): Attributes {
  if (!content) return {};
  const { input, invalidInput } = call;
  const toolArguments = invalidInput === undefined ? boundedJson(input, contentLimit) : cut(invalidInput, contentLimit);
  return {
    [ATTRIBUTE.toolArguments]: toolArguments,
    [ATTRIBUTE.toolResult]: result && contentText(result.content, contentLimit),
  };
}
