import { type Attributes, SpanKind } from '@opentelemetry/api';
import type { ModelCallRequest, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { ModelResponse, Usage } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import {
  chatAttributes,
  errorType,
  finishReasonOf,
  modelAttributes,
  toolAttributes,
  toolLabels,
  toolName,
  usageAttributes,
  usageBetween,
} from './attributes.js';
import type { Backend } from './backend.js';
import { answerJson, boundedJson, contentText, cut, instructionsJson, messagesJson, toolsJson } from './content.js';
import { ATTRIBUTE, MODEL_DURATION, OPERATION, TOKEN_USAGE, TOOL_DURATION } from './conventions.js';
import type { Operation, OperationEnd } from './operation.js';
import type { TracedRun } from './run.js';

/** A call on its way inwards. */
export interface TracedCall<Result> {
  readonly backend: Backend;
  readonly traced: TracedRun;
  readonly next: () => Promise<Result>;
}

/** What a tool call that made an error result failed with. What it said is content. */
const TOOL_ERROR = 'tool_error';

/** Makes the model call inside its span. Gives the very promise of `next`. */
export function traceModelCall(
  { backend, traced, next }: TracedCall<ModelResponse>,
  request: ModelCallRequest,
): Promise<ModelResponse> {
  const { model, run } = request;
  const before = run.usage;
  const chat = traced.beginChat({
    name: `${OPERATION.chat} ${model.id}`,
    kind: SpanKind.CLIENT,
    attributes: () => chatAttributes(request),
    duration: { spec: MODEL_DURATION, attributes: () => chatLabels(request) },
  });
  const settle = (end: OperationEnd, response: ModelResponse | undefined) => {
    const usage = usageBetween(before, run.usage);
    traced.leave(chat);
    chat.end({
      ...end,
      attributes: () => ({ ...usageAttributes(usage), ...chatContent(backend, request, response) }),
    });
    recordTokens(backend, request, usage);
  };
  return watch(chat, next, {
    onResult(response) {
      traced.finishReason = finishReasonOf(response);
      settle({}, response);
    },
    onError: (error) => settle({ errorType: errorType(error), error }, undefined),
  });
}

/** Makes the tool call inside its span. Gives the very promise of `next`. */
export function traceToolCall(
  { backend, traced, next }: TracedCall<ToolResult>,
  call: ToolCallRequest,
): Promise<ToolResult> {
  const tool = traced.beginTool({
    name: `${OPERATION.tool} ${toolName(call)}`,
    kind: SpanKind.INTERNAL,
    attributes: () => toolAttributes(call, backend.contentLimit),
    duration: { spec: TOOL_DURATION, attributes: () => toolLabels(call) },
  });
  const settle = (end: OperationEnd) => {
    traced.leave(tool);
    tool.end(end);
  };
  return watch(tool, next, {
    onResult: (result) =>
      settle({
        errorType: result.isError ? TOOL_ERROR : undefined,
        attributes: () => toolContent(backend, call, result),
      }),
    onError(error) {
      // It has not run: it waits for a decision.
      if (isSuspension(error)) settle({ attributes: () => ({ [ATTRIBUTE.callStatus]: 'suspended' }), isUntimed: true });
      else settle({ errorType: errorType(error), error, attributes: () => toolContent(backend, call) });
    },
  });
}

interface Watcher<Result> {
  onResult(result: Result): void;
  onError(error: unknown): void;
}

/** Neither of the two may throw: the promise that it would reject is nobody's. */
function watch<Result>(call: Operation, next: () => Promise<Result>, watcher: Watcher<Result>): Promise<Result> {
  const promise = call.within(() => next());
  promise.then(
    (result) => watcher.onResult(result),
    (error) => watcher.onError(error),
  );
  return promise;
}

function isSuspension(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 'ERR_CALL_SUSPENDED';
}

function chatLabels({ model }: ModelCallRequest): Attributes {
  return { [ATTRIBUTE.operation]: OPERATION.chat, ...modelAttributes(model) };
}

/** Every attempt inside the call counts. Where no model was called, nothing is recorded. */
function recordTokens(backend: Backend, request: ModelCallRequest, { inputTokens, outputTokens }: Usage): void {
  const record = (type: string, value: number) => {
    const attributes = { ...chatLabels(request), [ATTRIBUTE.tokenType]: type };
    if (value > 0) backend.record(request.run, TOKEN_USAGE, { value, attributes });
  };
  record('input', inputTokens);
  record('output', outputTokens);
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
    ...(system !== undefined && { [ATTRIBUTE.instructions]: instructionsJson([system], contentLimit) }),
    ...(tools.length > 0 && { [ATTRIBUTE.toolDefinitions]: toolsJson(tools, contentLimit) }),
    [ATTRIBUTE.inputMessages]: messagesJson(rest, contentLimit),
    ...(response && {
      [ATTRIBUTE.outputMessages]: answerJson(response.content, finishReasonOf(response), contentLimit),
    }),
  };
}

function toolContent({ content, contentLimit }: Backend, call: ToolCallRequest, result?: ToolResult): Attributes {
  if (!content) return {};
  const { input, invalidInput } = call;
  const given = invalidInput === undefined ? boundedJson(input, contentLimit) : cut(invalidInput, contentLimit);
  return {
    [ATTRIBUTE.toolArguments]: given,
    ...(result && { [ATTRIBUTE.toolResult]: contentText(result.content, contentLimit) }),
  };
}
