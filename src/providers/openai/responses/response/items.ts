import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart } from '../../../../model/message.js';
import { readArguments, uniqueId } from '../../../shared/answer.js';
import { invalidAnswer } from '../../../shared/error.js';
import { isObject, objectsIn, present, textOr, type WireObject } from '../../../shared/wire.js';
import { callKinds } from '../call-kinds.js';
import { toMetadata, without } from '../metadata.js';
import { PARAGRAPH } from '../paragraph.js';
import { hostedParts, type ItemContext, isOutput, outputParts, type ResponseSource } from './hosted.js';

/** Converts the output items of a response to the parts of a message, in order. */
export function partsOf(
  output: readonly WireObject[],
  { model, isRunByServer }: ResponseSource,
): readonly AssistantPart[] {
  const answered = new Set(output.filter(isOutput).map(({ call_id: id }) => id ?? undefined));
  answered.delete(undefined);
  const context: ItemContext = { model, ids: new Set(), answered, unnamed: [], written: new Set(), isRunByServer };
  return output.flatMap((item) => itemParts(item, context));
}

function itemParts(item: WireObject, context: ItemContext): readonly AssistantPart[] {
  if (item.type === 'message') return texts(item, context);
  if (item.type === 'reasoning') return [reasoning(item, context)];
  const kind = callKinds.get(textOr(item.type));
  if (context.isRunByServer(item)) return [serverCall(item, context)];
  if (kind !== undefined && !hasRunByItself(item, context)) return [call(item, context)];
  return hostedParts(item, context) ?? outputParts(item, context) ?? [privatePart(item, context)];
}

/**
 * True for a tool call that OpenAI ran itself. This applies to shell calls in OpenAI's containers, and to tool searches
 * unless their `execution` is `client`.
 */
function hasRunByItself(item: WireObject, { answered }: ItemContext): boolean {
  if (item.type === 'tool_search_call') return item.execution !== 'client';
  return answered.has(item.call_id ?? undefined);
}

/**
 * Returns the texts of a message item. If the response has several messages, each further one begins a new paragraph.
 */
function texts(item: WireObject, { model, written }: ItemContext): readonly TextPart[] {
  const kept = present({ type: item.type, id: item.id, phase: item.phase });
  const isCommentary = item.phase === 'commentary';
  const commentary = isCommentary ? { commentary: true } : {};
  let gap = written.has(isCommentary) ? PARAGRAPH : '';
  return objectsIn(item.content).flatMap((content): readonly TextPart[] => {
    const spoken = textOr(content.text) || textOr(content.refusal);
    if (spoken === '') return [];
    const text = gap + spoken;
    gap = '';
    written.add(isCommentary);
    const annotations = filled(content.annotations);
    const logprobs = filled(content.logprobs);
    return [{ type: 'text', text, ...commentary, ...toMetadata({ model, item: kept, annotations, logprobs }) }];
  });
}

function filled(list: unknown): readonly WireObject[] | undefined {
  const objects = objectsIn(list);
  return objects.length > 0 ? objects : undefined;
}

/**
 * Returns the reasoning part for a reasoning item. Its text is the summary, or the reasoning itself if the server sends
 * it.
 */
function reasoning(item: WireObject, { model }: ItemContext): ReasoningPart {
  const summary = textsIn(item.summary);
  const text = summary.length > 0 ? summary.join('\n\n') : textsIn(item.content).join('');
  const several = summary.length > 1 ? summary : undefined;
  const kept = present(without(item, 'summary', 'status'));
  return { type: 'reasoning', text, ...toMetadata({ model, item: kept, summary: several }) };
}

function textsIn(list: unknown): readonly string[] {
  return objectsIn(list).map(({ text }) => textOr(text));
}

function call(item: WireObject, { model, ids }: ItemContext): ToolCallPart {
  const kind = callKinds.get(textOr(item.type));
  const read = kind?.read(item);
  if (kind === undefined || read === undefined || read.name === '') {
    throw invalidAnswer('openai', 'a tool call has no name', { cause: item });
  }
  const kept = present(without(item, ...kind.held, 'call_id', 'status'));
  const id = uniqueId(kind.needsApproval ? item.id : item.call_id, ids);
  const approval = kind.needsApproval ? { needsApproval: true } : {};
  return { type: 'tool-call', id, ...read, ...approval, ...toMetadata({ model, item: kept }) };
}

/**
 * Returns the part for a call that the server runs without returning a result. The call is not sent back, because a
 * request must not contain a call without a result.
 */
function serverCall({ name, input, call_id }: WireObject, { ids }: ItemContext): ToolCallPart {
  const id = uniqueId(call_id, ids);
  return { type: 'tool-call', id, name: textOr(name), ...readArguments(input), providerExecuted: true };
}

/**
 * Stores an item that Keelson's messages cannot express in an empty reasoning part, so that it can be sent back
 * unchanged.
 */
function privatePart(item: WireObject, { model }: ItemContext): ReasoningPart {
  return { type: 'reasoning', text: '', ...toMetadata({ model, item: without(item) }) };
}

/** Returns the URLs that web searches found, and the files that file searches found, each once. */
export function sourcesOf(output: readonly WireObject[]): readonly WireObject[] {
  const found = output.flatMap((item) => {
    if (item.type === 'web_search_call' && isObject(item.action)) return objectsIn(item.action.sources);
    if (item.type !== 'file_search_call') return [];
    return objectsIn(item.results).map(({ file_id, filename }) => ({ type: 'file', file_id, filename }));
  });
  return [...new Map(found.map((source) => [JSON.stringify(source), source])).values()];
}
