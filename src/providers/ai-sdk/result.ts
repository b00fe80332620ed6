import { reasonOfDeniedCall } from '../../model/denial.js';
import type { ContentPart, ToolCallPart, ToolMessage, ToolResultPart } from '../../model/message.js';
import { base64Of, type FileData, fileOf } from '../shared/file-data.js';
import { attachmentsOf, contentText, resultText } from '../shared/tools/tool-result.js';
import { defined, hasFields, type WireObject, wellFormed } from '../shared/wire.js';
import { type Downloads, filePart, withDownload } from './file.js';
import { optionsOf, originOf } from './metadata.js';
import type { AiSdkModel } from './model.js';
import { type ProviderTools, providerToolJson } from './provider-tools.js';

/** The model that receives a prompt, with the downloaded files and the provider's tools. */
export interface PromptTarget {
  readonly model: AiSdkModel;
  readonly downloads: Downloads;
  readonly providerTools?: ProviderTools | undefined;
}

/** A tool call, and the provider options that its result in the prompt must repeat. */
export interface PromptCall {
  readonly options?: WireObject | undefined;
  readonly part: ToolCallPart;
}

/**
 * Matches the names of AI SDK providers that use the chat completions protocol. Files of a tool result follow in a user
 * message for these providers, because they would send such files as base64 text.
 *
 * Gemini on Vertex also has a name that ends in `.chat`, but uses another protocol.
 */
const CHAT = /^(?!google).*\.chat$/;

/** True if the AI SDK provider with this name uses the chat completions protocol or a similar one. */
export function speaksChat(provider: string): boolean {
  return CHAT.test(provider);
}

/**
 * Returns the messages for the tool results of one turn. `calls` contains the provider options of the tool calls,
 * because some providers expect the same options with the results.
 */
export function toolMessages(
  message: ToolMessage,
  target: PromptTarget,
  calls: ReadonlyMap<string, PromptCall>,
): readonly WireObject[] {
  const isTextOnly = speaksChat(target.model.provider);
  const content = message.content.flatMap((part): readonly WireObject[] => {
    const call = calls.get(part.id)?.part;
    if (call?.needsApproval) return approvalResponse(part, call, target);
    const output = isTextOnly ? textOutput(part, target) : resultOutput(part, target);
    const named = { toolCallId: part.id, toolName: part.name };
    return [{ type: 'tool-result', ...named, output, ...optionsFor(part, target, calls) }];
  });
  const files = isTextOnly ? message.content.flatMap(attachmentsOf) : [];
  const attached = files.map((part) => attachment(part, target));
  const results = content.length > 0 ? [{ role: 'tool', content }] : [];
  return attached.length > 0 ? [...results, { role: 'user', content: attached }] : results;
}

/** Returns the result of a tool that the provider ran, in the form in which the provider sent it. */
export function providerResult(part: ToolResultPart, provider: string): WireObject {
  const { structured, isError } = part;
  const kind = isError ? 'error-' : '';
  const value = structured ?? contentText(part.content);
  const output = { type: `${kind}${typeof value === 'string' ? 'text' : 'json'}`, value };
  return { type: 'tool-result', toolCallId: part.id, toolName: part.name, output, ...optionsOf(part, provider) };
}

function optionsFor(part: ToolResultPart, { model }: PromptTarget, calls: ReadonlyMap<string, PromptCall>): WireObject {
  const { providerOptions } = optionsOf(part, model.provider);
  const options = { ...calls.get(part.id)?.options, ...providerOptions };
  return hasFields(options) ? { providerOptions: options } : {};
}

/**
 * Returns the answer to a provider that asked for approval of a tool call. Returns nothing if another provider asked.
 */
function approvalResponse(part: ToolResultPart, call: ToolCallPart, { model }: PromptTarget): readonly WireObject[] {
  const { provider, approvalId } = originOf(call);
  if (provider !== model.provider || approvalId === undefined) return [];
  const reason = reasonOfDeniedCall(contentText(part.content));
  return [defined({ type: 'tool-approval-response', approvalId, approved: !part.isError, reason })];
}

/**
 * Returns the output of a tool result. Reads `content` and not `structured`, because a lifecycle may have changed only
 * `content`.
 */
function resultOutput(part: ToolResultPart, target: PromptTarget): WireObject {
  const json = providerToolJson(part, target.providerTools ?? {});
  if (json !== undefined) return { type: 'json', value: wellFormed(json) };
  if (typeof part.content === 'string' || part.content.every(({ type }) => type === 'text')) {
    return textOutput(part, target);
  }
  const nonEmpty = part.content.filter((each) => each.type !== 'text' || each.text.trim() !== '');
  const parts = nonEmpty.map((each) => resultPart(each, target));
  const value = part.isError ? [{ type: 'text', text: 'Error:' }, ...parts] : parts;
  return { type: 'content', value };
}

/**
 * Returns a tool output that is text. Only Anthropic's protocol can mark it as an error. For all others, the text
 * itself says so.
 */
function textOutput(part: ToolResultPart, { model }: PromptTarget): WireObject {
  const value = wellFormed(resultText(part, /anthropic/.test(model.provider)));
  return { type: part.isError ? 'error-text' : 'text', value };
}

/**
 * Converts a part of a tool result. A URL that the model cannot read becomes text. If it were an error, a single tool
 * could end the run.
 */
function resultPart(part: ContentPart, target: PromptTarget): WireObject {
  const options = optionsOf(part, target.model.provider);
  if (part.type === 'text') return { type: 'text', text: wellFormed(part.text), ...options };
  const file = fileOf(part);
  const loaded = withDownload(file, target.downloads);
  const isRead = loaded !== undefined && (target.model.specificationVersion !== 'v2' || !(loaded.data instanceof URL));
  if (!isRead) return { type: 'text', text: String(file.data), ...options };
  return { ...resultFile(loaded, target.model.specificationVersion), ...options };
}

function resultFile(file: FileData, version: AiSdkModel['specificationVersion']): WireObject {
  if (version === 'v4') return filePart(file, version);
  const { data, mediaType, filename } = file;
  const kind = mediaType.startsWith('image/') ? 'image' : 'file';
  const named = kind === 'file' && filename !== undefined ? { filename } : {};
  if (data instanceof URL) {
    const read = { type: `${kind}-url`, url: data.href };
    return kind === 'file' ? { ...read, mediaType, ...named } : read;
  }
  const base64 = base64Of(file);
  if (version === 'v2') return { type: 'media', data: base64, mediaType };
  return { type: `${kind}-data`, data: base64, mediaType, ...named };
}

function attachment(part: ContentPart, target: PromptTarget): WireObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const file = fileOf(part);
  const loaded = withDownload(file, target.downloads);
  return loaded ? filePart(loaded, target.model.specificationVersion) : { type: 'text', text: String(file.data) };
}
