import type { RequestBody } from './openai-server.js';

/** An item of a received request, independent of a protocol. */
export type HeardItem =
  | { readonly type: 'system' | 'user' | 'assistant'; readonly text: string }
  | { readonly type: 'picture'; readonly url: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'result'; readonly id: string; readonly text: string; readonly isError: boolean };

type Fields = Readonly<Record<string, unknown>>;

/** Parses the messages of a chat completions request. */
export function heardChat({ messages }: RequestBody): readonly HeardItem[] {
  return messages.flatMap((message): readonly HeardItem[] => {
    if (message.role === 'tool') return [resultItem(message.tool_call_id, message.content)];
    const calls = objects(message.tool_calls).map(({ id, function: called }) => {
      const { name, arguments: text } = called as Fields;
      return callItem(id, name, text);
    });
    return [...said(roleOf(message), message.content), ...calls];
  });
}

/** Parses the messages of a request to Anthropic. */
export function heardMessages(body: RequestBody): readonly HeardItem[] {
  const system = typeof body.system === 'string' ? [{ type: 'system' as const, text: body.system }] : [];
  const turns = body.messages.flatMap(({ role, content }) =>
    objects(content).flatMap((block): readonly HeardItem[] => {
      if (block.type === 'tool_use') return [callItem(block.id, block.name, block.input)];
      if (block.type !== 'tool_result') return said(roleOf({ role }), [block]);
      const inside = said('user', block.content);
      const pictures = inside.filter(({ type }) => type === 'picture');
      const text = inside.map((item) => (item.type === 'user' ? item.text : '')).join('');
      return [resultItem(block.tool_use_id, text, block.is_error === true), ...pictures];
    }),
  );
  return [...system, ...turns];
}

/** Parses the input of a request to the OpenAI responses API. */
export function heardResponses({ input }: RequestBody): readonly HeardItem[] {
  return objects(input).flatMap((item): readonly HeardItem[] => {
    if (item.type === 'function_call') return [callItem(item.call_id, item.name, item.arguments)];
    if (item.type !== 'function_call_output') return item.role === undefined ? [] : said(roleOf(item), item.content);
    const inside = said('user', item.output);
    const text = inside.map((each) => (each.type === 'user' ? each.text : '')).join('\n');
    return [resultItem(item.call_id, text), ...inside.filter(({ type }) => type === 'picture')];
  });
}

/** Parses the tool names and the tool choice of a request. */
export interface HeardTools {
  readonly tools: readonly object[];
  readonly choice: unknown;
}

/** Tool choices under their names at Anthropic. */
const OWN_WORDS = new Map<unknown, string>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

/** Parses a tool choice: an object that names the tool, or a string. */
export function heardTools({ tools, tool_choice: choice }: RequestBody): HeardTools {
  const heard = objects(tools).map(({ function: called, ...tool }) => {
    const { name, description, parameters, input_schema } = (called ?? tool) as Fields;
    return { name, description, parameters: parameters ?? input_schema };
  });
  if (typeof choice !== 'object' || choice === null) return { tools: heard, choice };
  const { type, name, function: called } = choice as Fields;
  const tool = (called as Fields | undefined)?.name ?? name;
  return { tools: heard, choice: tool === undefined ? OWN_WORDS.get(type) : { tool } };
}

function roleOf({ role }: Fields): 'system' | 'user' | 'assistant' {
  return role === 'user' || role === 'assistant' ? role : 'system';
}

function said(type: 'system' | 'user' | 'assistant', content: unknown): readonly HeardItem[] {
  if (typeof content === 'string') return [{ type, text: content }];
  return objects(content).flatMap((part): readonly HeardItem[] => {
    const url = pictureIn(part);
    if (url !== undefined) return [{ type: 'picture', url }];
    return typeof part.text === 'string' ? [{ type, text: part.text }] : [];
  });
}

function pictureIn({ image_url: image, source }: Fields): string | undefined {
  if (typeof image === 'string') return image;
  if (image !== undefined) return String((image as Fields).url);
  const { url, media_type, data } = (source ?? {}) as Fields;
  return source === undefined ? undefined : String(url ?? `data:${media_type};base64,${data}`);
}

function callItem(id: unknown, name: unknown, input: unknown): HeardItem {
  const read = typeof input === 'string' ? JSON.parse(input) : input;
  return { type: 'call', id: String(id), name: String(name), input: read };
}

/** Chat completions and responses have no error flag, so the text is checked. */
function resultItem(id: unknown, text: unknown, isError = /^Error\b/.test(String(text))): HeardItem {
  return { type: 'result', id: String(id), text: String(text), isError };
}

function objects(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value : [];
}
