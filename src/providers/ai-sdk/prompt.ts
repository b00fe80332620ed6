import { MessageInvalidError } from '../../errors.js';
import {
  type AssistantPart,
  type ContentPart,
  type Message,
  type ToolCallPart,
  toolCallsOf,
  type UserMessage,
} from '../../model/message.js';
import { toArguments } from '../shared/answer.js';
import { fileOf } from '../shared/file-data.js';
import { defined, type WireObject, wellFormed } from '../shared/wire.js';
import { withAcceptedCalls } from './calls.js';
import { filePart, withDownload } from './file.js';
import { optionsOf, originOf } from './metadata.js';
import { isOpenAI } from './model.js';
import { isCustomTool } from './provider-tools.js';
import { type PromptCall, type PromptTarget, providerResult, speaksChat, toolMessages } from './result.js';

/**
 * Converts messages into a prompt in the specification version of the model. Drops empty messages, except that an empty
 * user message becomes a placeholder.
 */
export function toPrompt(messages: readonly Message[], target: PromptTarget): readonly WireObject[] {
  return withAcceptedCalls(wirePrompt(messages, target), { model: target.model, ownIds: ownIds(messages, target) });
}

/** Returns the ids of the tool calls that this model has made. */
function ownIds(messages: readonly Message[], { model }: PromptTarget): ReadonlySet<string> {
  const calls = messages.flatMap(toolCallsOf).filter((call) => {
    const origin = originOf(call);
    return origin.provider === model.provider && origin.model === model.modelId;
  });
  return new Set(calls.map(({ id }) => id));
}

function wirePrompt(messages: readonly Message[], target: PromptTarget): readonly WireObject[] {
  const calls = new Map<string, PromptCall>();
  const begin = messages.findIndex(({ role }) => role !== 'system');
  return messages.flatMap((message, at): readonly WireObject[] => {
    if (message.role === 'system') {
      if (message.content.trim() === '') return [];
      return [systemMessage(wellFormed(message.content), begin !== -1 && at > begin, target)];
    }
    if (message.role === 'tool') return toolMessages(message, target, calls);
    if (message.role === 'user') return [{ role: 'user', content: userContent(message.content, target) }];
    const content = message.content.flatMap((part) => assistantPart(part, target));
    for (const part of message.content) {
      const { providerOptions: options } = optionsOf(part, target.model.provider);
      if (part.type === 'tool-call') calls.set(part.id, { part, options });
    }
    return content.length > 0 ? [{ role: 'assistant', content }] : [];
  });
}

/**
 * Converts a system message. A system message after the beginning becomes a user message, because Anthropic, Google and
 * other providers only accept system messages at the beginning.
 */
function systemMessage(content: string, isLate: boolean, { model }: PromptTarget): WireObject {
  if (!isLate || speaksChat(model.provider) || isOpenAI(model)) return { role: 'system', content };
  return { role: 'user', content: [{ type: 'text', text: `<system>\n${content}\n</system>` }] };
}

function userContent(content: UserMessage['content'], target: PromptTarget): readonly WireObject[] {
  const given: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const parts = given.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  return parts.length > 0 ? parts.map((part) => userPart(part, target)) : [{ type: 'text', text: '(no message)' }];
}

function userPart(part: ContentPart, target: PromptTarget): WireObject {
  const { provider, modelId, specificationVersion } = target.model;
  const options = optionsOf(part, provider);
  if (part.type === 'text') return { type: 'text', text: wellFormed(part.text), ...options };
  const file = fileOf(part);
  const loaded = withDownload(file, target.downloads);
  if (loaded) return { ...filePart(loaded, specificationVersion), ...options };
  throw new MessageInvalidError(
    `Model "${modelId}" of ${provider} does not read ${file.mediaType} from the URL ${file.data}. Pass the file as bytes, or set the option \`download\` of aiSdk().`,
  );
}

/**
 * Converts a part of an assistant message. Reasoning is sent back only to the provider that produced it. Drops blank
 * text without provider options, because several providers refuse it.
 */
function assistantPart(part: AssistantPart, target: PromptTarget): readonly WireObject[] {
  const { provider, specificationVersion } = target.model;
  const options = optionsOf(part, provider);
  if (part.type === 'text') {
    const isNothing = part.text.trim() === '' && !options.providerOptions;
    return isNothing ? [] : [{ type: 'text', text: wellFormed(part.text), ...options }];
  }
  if (part.type === 'reasoning') {
    const origin = originOf(part);
    if (origin.provider !== provider) return [];
    return [{ ...(origin.part ?? { type: 'reasoning', text: wellFormed(part.text) }), ...options }];
  }
  if (part.type === 'file') return [{ ...filePart(fileOf(part), specificationVersion), ...options }];
  if (part.type === 'tool-call') return callPart(part, target);
  return part.type === 'tool-result' && isFromHere(part, provider) ? [providerResult(part, provider)] : [];
}

/** Converts a tool call. Drops the call if another provider ran it, or would have run it after an approval. */
function callPart(part: ToolCallPart, { model, providerTools = {} }: PromptTarget): readonly WireObject[] {
  const { id, name, input } = part;
  const { provider } = model;
  const providerExecuted = part.providerExecuted || part.needsApproval;
  if (providerExecuted && !isFromHere(part, provider)) return [];
  const isCustom = typeof input === 'string' && isCustomTool(providerTools[name]);
  const call = defined({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: wellFormed(isCustom ? input : toArguments(part)),
    providerExecuted: providerExecuted || undefined,
  });
  return [{ ...call, ...optionsOf(part, provider) }];
}

function isFromHere(part: AssistantPart, provider: string): boolean {
  return originOf(part).provider === provider;
}
