import { type ScriptedAnswer, wordsOf } from './openai-reply.js';
import type { Reply } from './openai-server.js';

/** An output item of a response. */
export interface ResponseItem {
  readonly type: string;
  readonly id?: string | null;
  readonly [field: string]: unknown;
}

/** Returns usage in the form of the OpenAI responses API. */
const USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 17,
};

/** Returns an assistant message item. */
export function message(text: string): ResponseItem {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
}

/** Returns a reply with these items, streamed or complete. */
export function responseOf(
  items: readonly ResponseItem[],
  { stream = false, incomplete = '', id = 'resp_1' } = {},
): Reply {
  const head = { id, created_at: 1_750_000_000, model: 'gpt-5-mini' };
  const incomplete_details = incomplete === '' ? null : { reason: incomplete };
  const end = { usage: USAGE, incomplete_details };
  const status = incomplete === '' ? 'completed' : 'incomplete';
  if (!stream) return { json: { ...head, object: 'response', status, output: items, ...end, error: null } };
  const chunks = [
    { type: 'response.created', response: head },
    ...items.flatMap(itemEvents),
    { type: `response.${status}`, response: { ...head, ...end } },
  ];
  return { chunks, end: 'silent' };
}

/** Returns the reply for this answer. */
export function respond(answer: ScriptedAnswer, body: { readonly stream?: boolean } = {}): Reply {
  const summary = [{ type: 'summary_text', text: answer.reasoning }];
  const calls = (answer.toolCalls ?? []).map(({ id, name, arguments: text }) => {
    return { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: text, status: 'completed' };
  });
  const items: ResponseItem[] = [
    ...(answer.reasoning === undefined ? [] : [{ type: 'reasoning', id: 'rs_1', summary }]),
    ...(answer.text === undefined ? [] : [message(answer.text)]),
    ...calls,
  ];
  return responseOf(items, { stream: body.stream ?? false, incomplete: answer.finishReason ?? '' });
}

/** Returns the events of an item: text word by word, the arguments of a call in two pieces. */
export function itemEvents(item: ResponseItem, output_index: number): readonly object[] {
  return [
    { type: 'response.output_item.added', output_index, item: begun(item) },
    ...deltasOf(item, output_index),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function begun(item: ResponseItem): object {
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' };
  if (item.type === 'reasoning') return { ...item, encrypted_content: null };
  return item.type === 'message' ? { ...item, content: [] } : item;
}

function deltasOf(item: ResponseItem, output_index: number): readonly object[] {
  const at = { item_id: item.id, output_index };
  if (item.type === 'function_call') {
    const text = String(item.arguments);
    const half = Math.ceil(text.length / 2);
    const pieces = [text.slice(0, half), text.slice(half)];
    return pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta }));
  }
  if (item.type !== 'reasoning' && item.type !== 'message') return [];
  const parts = (item.summary ?? item.content ?? []) as readonly { readonly text: string }[];
  const words = wordsOf(parts[0]?.text);
  if (item.type === 'reasoning') {
    return words.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta }));
  }
  return words.map((delta) => ({
    type: 'response.output_text.delta',
    ...at,
    content_index: 0,
    delta,
    logprobs: [],
  }));
}
