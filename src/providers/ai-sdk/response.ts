import type { KeelsonError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import type { AssistantPart, FilePart, ToolCallPart, ToolResultPart } from '../../model/message.js';
import type { FinishReason, ModelResponse, Usage } from '../../model/model.js';
import { readArguments, toUsage, uniqueId } from '../shared/answer.js';
import { PLAIN_IDS } from '../shared/call-ids.js';
import { callsMissing, invalidAnswer } from '../shared/error.js';
import { toProviderError } from '../shared/failure.js';
import { toBase64 } from '../shared/file-data.js';
import { defined, hasFields, isObject, objectsIn, parseJson, textOr, type WireObject } from '../shared/wire.js';
import { markedBy, markedMetadata } from './metadata.js';
import { type AiSdkModel, familyOf } from './model.js';
import { isCustomTool, type ProviderTools } from './provider-tools.js';

/** Google's finish reasons for a tool call that cannot be read. The AI SDK reports some of them as `other`. */
const MALFORMED_CALL = /^(?:malformed_function_call|unexpected_tool_call|too_many_tool_calls)$/i;
const FINISH_REASONS: readonly string[] = ['stop', 'length', 'tool-calls', 'content-filter', 'error', 'other'];

/**
 * Returns the model response for a result of the AI SDK. The result was either received whole or assembled from a
 * stream.
 */
export function readResult(
  result: WireObject,
  { provider, modelId }: AiSdkModel,
  tools: ProviderTools = {},
): ModelResponse {
  const family = familyOf(provider);
  const parts = objectsIn(result.content);
  const source = { provider, modelId, tools, ids: new Set<string>(), approvals: approvalsIn(parts, family) };
  const content = parts.flatMap((part) => readPart(part, source));
  const { finishReason, raw } = finishOf(result.finishReason);
  const usage = usageOf(result.usage, result.providerMetadata);
  if (finishReason === 'other' && raw === '' && content.length + usage.outputTokens === 0)
    throw noAnswer(result, family);
  if (finishReason === 'error' || MALFORMED_CALL.test(raw))
    throw toProviderError(family, { error: `The provider stopped its answer with finish reason "${raw}".` });
  if (finishReason === 'tool-calls' && content.every(({ type }) => type === 'reasoning')) {
    throw callsMissing(family, result);
  }
  const isCall = content.some((part) => part.type === 'tool-call' && !part.providerExecuted);
  const isUnsaid = finishReason === 'stop' || (finishReason === 'other' && raw === '');
  return {
    content,
    finishReason: isCall && isUnsaid ? 'tool-calls' : finishReason,
    usage,
    ...metadataOf(result),
  };
}

/**
 * Returns the error for a response without content. Google's AI SDK provider accepts any JSON as a response, even an
 * error.
 */
function noAnswer(result: WireObject, family: string): KeelsonError {
  const body = isObject(result.response) && isObject(result.response.body) ? result.response.body : {};
  if (body.error) return toProviderError(family, { error: body.error });
  return invalidAnswer(family, 'it contains no content and no finish reason', { retryable: true, cause: result });
}

/**
 * Returns the finish reason, and the provider's own word for it. The AI SDK sends a string in v2, and an object since
 * v3. In v2, `unknown` means that the provider gave no reason.
 */
export function finishOf(given: unknown): { readonly finishReason: FinishReason; readonly raw: string } {
  const { unified, raw } = isObject(given) ? given : { unified: given, raw: given === 'unknown' ? '' : given };
  const known = FINISH_REASONS.includes(textOr(unified)) ? (unified as FinishReason) : 'other';
  return { finishReason: known, raw: textOr(raw) };
}

/**
 * Returns the token counts. In v2 of the specification they are numbers, and since v3 objects. In v2, only the
 * provider's metadata has the count of tokens written to a cache.
 */
export function usageOf(given: unknown, metadata?: unknown): Usage {
  const usage = isObject(given) ? given : {};
  const { inputTokens: input, outputTokens: output } = usage;
  return toUsage({
    input: isObject(input) ? input.total : input,
    output: isObject(output) ? output.total : output,
    total: usage.totalTokens,
    cached: isObject(input) ? input.cacheRead : usage.cachedInputTokens,
    written: isObject(input) ? input.cacheWrite : writtenIn(metadata),
    reasoning: isObject(output) ? output.reasoning : usage.reasoningTokens,
  });
}

function writtenIn(metadata: unknown): unknown {
  const { anthropic, bedrock } = isObject(metadata) ? metadata : {};
  if (isObject(anthropic)) return anthropic.cacheCreationInputTokens;
  return isObject(bedrock) && isObject(bedrock.usage) ? bedrock.usage.cacheWriteInputTokens : undefined;
}

/** Facts about the response that contains a part, needed to convert the part. */
interface PartSource {
  readonly provider: string;
  readonly modelId: string;
  readonly tools: ProviderTools;
  /** The ids of the tool calls that were converted so far, so that no id occurs twice. */
  readonly ids: Set<string>;
  /** The ids with which the provider asks for approval, by the id of the tool call. */
  readonly approvals: ReadonlyMap<unknown, string>;
}

function approvalsIn(parts: readonly WireObject[], family: string): ReadonlyMap<unknown, string> {
  const requests = parts.filter(({ type }) => type === 'tool-approval-request');
  for (const request of requests) {
    const { toolCallId: id } = request;
    if (parts.some((part) => part.type === 'tool-call' && part.toolCallId === id)) continue;
    throw invalidAnswer(family, `it asks to approve tool call "${textOr(id)}", which it does not contain`, {
      cause: request,
    });
  }
  return new Map(requests.map(({ toolCallId, approvalId }) => [toolCallId, textOr(approvalId)]));
}

/**
 * Converts a part of the response. Sources are dropped here, because they go into the metadata of the response. Unknown
 * parts are dropped too.
 */
function readPart(part: WireObject, source: PartSource): readonly AssistantPart[] {
  const { provider } = source;
  const { type, providerMetadata: metadata } = part;
  const text = textOr(part.text);
  if (type === 'text') {
    return text === '' && !hasFields(metadata) ? [] : [{ type, text, ...markedMetadata(provider, metadata) }];
  }
  if (type === 'reasoning') {
    return text === '' && !hasFields(metadata) ? [] : [{ type, text, ...markedBy({ provider }, metadata) }];
  }
  if (type === 'file') return [filePart(part, provider)];
  if (type === 'tool-call') return [callPart(part, source)];
  if (type === 'tool-result') return part.preliminary === true ? [] : [resultPart(part, provider)];
  if (type === 'custom' || type === 'reasoning-file') return [privatePart(part, provider)];
  return [];
}

function filePart(part: WireObject, provider: string): FilePart {
  const { data, mediaType, providerMetadata } = part;
  const type = textOr(mediaType) || 'application/octet-stream';
  return { type: 'file', data: dataOf(data), mediaType: type, ...markedMetadata(provider, providerMetadata) };
}

function dataOf(given: unknown): string | Uint8Array {
  const data = isObject(given) && 'type' in given ? (given.data ?? given.url) : given;
  return data instanceof Uint8Array ? data : String(data ?? '');
}

function callPart(part: WireObject, { provider, modelId, tools, ids, approvals }: PartSource): ToolCallPart {
  const name = textOr(part.toolName);
  if (name === '') throw invalidAnswer(familyOf(provider), 'a tool call has no name', { cause: part });
  const approvalId = approvals.get(part.toolCallId);
  const isProviderExecuted = part.providerExecuted === true && approvalId === undefined;
  const metadata = part.providerMetadata;
  const given = isCustomTool(tools[name]) ? { input: customInput(part.input) } : readArguments(part.input);
  const call: ToolCallPart = { type: 'tool-call', id: uniqueId(part.toolCallId, ids), name, ...given };
  if (approvalId !== undefined)
    return { ...call, needsApproval: true, ...markedBy({ provider, approvalId }, metadata) };
  if (isProviderExecuted) return { ...call, providerExecuted: true, ...markedBy({ provider }, metadata) };
  if (!PLAIN_IDS.accepted.test(call.id)) return { ...call, ...markedBy({ provider, model: modelId }, metadata) };
  return { ...call, ...markedMetadata(provider, metadata) };
}

/**
 * Returns the input of a custom tool, which is a string in JSON. The string itself is not parsed, even if it contains
 * JSON.
 */
function customInput(given: unknown): unknown {
  return typeof given === 'string' ? (parseJson(given) ?? given) : (given ?? '');
}

function resultPart(part: WireObject, provider: string): ToolResultPart {
  const { toolCallId: id, toolName: name, result } = part;
  const read: ToolResultPart = {
    type: 'tool-result',
    id: textOr(id),
    name: textOr(name),
    content: typeof result === 'string' ? result : (JSON.stringify(result) ?? ''),
    structured: (result ?? null) as JsonValue,
    ...markedBy({ provider }, part.providerMetadata),
  };
  return part.isError === true ? { ...read, isError: true } : read;
}

/**
 * Stores a part that only its provider understands in an empty reasoning part, so that the provider gets it back
 * unchanged.
 */
function privatePart({ providerMetadata, ...part }: WireObject, provider: string): AssistantPart {
  const bytes = isObject(part.data) ? part.data.data : undefined;
  const plain = bytes instanceof Uint8Array ? { data: { type: 'data', data: toBase64(bytes) } } : {};
  return { type: 'reasoning', text: '', ...markedBy({ provider, part: { ...part, ...plain } }, providerMetadata) };
}

/**
 * Returns the metadata of the response: the provider's own metadata, and under `aiSdk` the facts that the AI SDK
 * reports for every provider.
 */
function metadataOf(result: WireObject): Pick<ModelResponse, 'providerMetadata'> {
  const { id, modelId } = isObject(result.response) ? result.response : {};
  const sources = objectsIn(result.content).filter(({ type }) => type === 'source');
  const warnings = objectsIn(result.warnings);
  const aiSdk = defined({
    id: textOr(id) || undefined,
    model: textOr(modelId) || undefined,
    finishReason: finishOf(result.finishReason).raw || undefined,
    sources: sources.length > 0 ? sources : undefined,
    warnings: warnings.length > 0 ? warnings : undefined,
  });
  const own = isObject(result.providerMetadata) ? result.providerMetadata : {};
  const metadata = hasFields(aiSdk) ? { ...own, aiSdk } : own;
  return hasFields(metadata) ? { providerMetadata: metadata } : {};
}
