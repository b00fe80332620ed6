import { isObject, type JsonValue } from '../../internal/json.js';
import type { GivenResult } from '../../state/record/entry.js';
import type { Tool } from '../../tools/tool.js';
import { invalidBody } from '../invalid-body.js';
import type { PageInput, UIDecision, UIRequest, UISentMessage } from '../request.js';
import { userMessageOf } from '../user-content.js';
import { readPageTools } from './page-tools.js';

/** The data of an AG-UI request that the server uses. */
export type AgUIRequest = UIRequest & {
  readonly runId: string;
  readonly page: PageInput;
  /** Tools that the page runs. They have no `execute`. */
  readonly tools: readonly Tool[];
};

/**
 * Reads the `RunAgentInput` that an AG-UI client sends. `resume` entries become decisions on tool calls, and tool
 * messages at the end become results. Without both, the last message must be a user message. All other messages are
 * ignored.
 *
 * `page` has the context, the state and the forwarded properties. Throws a UIRequestError if the body is malformed.
 *
 * @example
 * const post = async (request: Request) => {
 *   const body = fromAgUIInput(await request.json());
 *   return body.type === 'message' ? body.message : body.type;
 * };
 */
export function fromAgUIInput(body: unknown): AgUIRequest {
  if (!isObject(body)) throw invalidBody('the body', 'an object', body);
  const { threadId, runId, messages, resume } = body;
  if (typeof threadId !== 'string' || threadId === '') throw invalidBody('`threadId`', 'a non-empty string', threadId);
  if (typeof runId !== 'string' || runId === '') throw invalidBody('`runId`', 'a non-empty string', runId);
  if (!Array.isArray(messages)) throw invalidBody('`messages`', 'an array', messages);
  if (resume !== undefined && resume !== null && !Array.isArray(resume))
    throw invalidBody('`resume`', 'an array', resume);
  const sent = { chatId: threadId, runId, page: readPage(body), tools: readPageTools(body.tools) };
  const results = readResults(messages);
  const decided = resume ?? [];
  if (decided.length > 0 || Object.keys(results).length > 0) {
    const decisions = Object.fromEntries(decided.map(readDecision));
    if (Object.keys(decisions).length < decided.length)
      throw invalidBody('`resume`', 'one entry for each tool call', resume);
    return { type: 'decisions', ...sent, decisions, results };
  }
  return { type: 'message', ...sent, ...readLast(messages) };
}

/**
 * Reads the tool messages at the end of the list as results, and skips activity messages between them. Some results may
 * come from the server, because a client sends all messages back.
 */
function readResults(messages: readonly unknown[]): Record<string, GivenResult> {
  const last = messages.findLastIndex((message) => roleOf(message) !== 'tool' && roleOf(message) !== 'activity');
  const results = messages.flatMap((message, index) =>
    index > last && roleOf(message) === 'tool' ? [readResult(message, index)] : [],
  );
  return Object.fromEntries(results);
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? message.role : undefined;
}

function readResult(message: unknown, index: number): [string, GivenResult] {
  const at = `\`messages[${index}]\``;
  const { toolCallId, content, error } = message as Readonly<Record<string, unknown>>;
  if (typeof toolCallId !== 'string') throw invalidBody(`the toolCallId of ${at}`, 'a string', toolCallId);
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw invalidBody(`the content of ${at}`, 'a string or an array of objects', content);
  }
  if (typeof error !== 'string') return [toolCallId, { result: content as JsonValue }];
  return [toolCallId, { result: content.length > 0 ? (content as JsonValue) : error, isError: true }];
}

function readPage({ context, state, forwardedProps }: Readonly<Record<string, unknown>>): PageInput {
  if (context !== undefined && context !== null && !(Array.isArray(context) && context.every(isContext))) {
    throw invalidBody('`context`', 'an array of { description, value }, which are strings', context);
  }
  return { context: (context as PageInput['context'] | null) ?? undefined, state, forwardedProps };
}

function isContext(entry: unknown): boolean {
  return isObject(entry) && typeof entry.description === 'string' && typeof entry.value === 'string';
}

function readDecision(entry: unknown, index: number): [string, UIDecision] {
  const at = `\`resume[${index}]\``;
  if (!isObject(entry)) throw invalidBody(at, 'an object', entry);
  const { interruptId, status, payload } = entry;
  if (typeof interruptId !== 'string') throw invalidBody(`the interruptId of ${at}`, 'a string', interruptId);
  if (status === 'cancelled') return [interruptId, 'deny'];
  if (status !== 'resolved') throw invalidBody(`the status of ${at}`, '"resolved" or "cancelled"', status);
  if (!isObject(payload) || typeof payload.approved !== 'boolean') {
    throw invalidBody(`the payload of ${at}`, 'an object with a boolean `approved`', payload);
  }
  const { approved, reason, input } = payload;
  if (approved && input !== undefined) return [interruptId, { approve: input as JsonValue }];
  const denial = typeof reason === 'string' && reason !== '' ? { deny: reason } : 'deny';
  return [interruptId, approved ? 'approve' : denial];
}

function readLast(messages: readonly unknown[]): Pick<UISentMessage, 'id' | 'after' | 'message'> {
  const at = `\`messages[${messages.length - 1}]\``;
  const last = messages.at(-1);
  if (!isObject(last)) throw invalidBody('the last message', 'an object', last);
  const { role, content } = last;
  if (role !== 'user') throw invalidBody(`the role of ${at}`, '"user"', role);
  const before = messages.slice(0, -1).findLast((message) => isObject(message) && message.role === 'user');
  const ids = { id: idOf(last), after: idOf(before) };
  if (typeof content === 'string') return { ...ids, message: userMessageOf([{ type: 'text', text: content }], at) };
  if (!Array.isArray(content) || !content.every(isObject)) {
    throw invalidBody(`the content of ${at}`, 'a string or an array of objects', content);
  }
  return { ...ids, message: userMessageOf(content.map(partOf), at) };
}

function idOf(message: unknown): string | undefined {
  return isObject(message) && typeof message.id === 'string' && message.id !== '' ? message.id : undefined;
}

/**
 * Converts a media part with inline data to a file part. Returns any other part unchanged; `userMessageOf` rejects it.
 */
function partOf(part: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { type, source } = part;
  if (type === 'text' || !isObject(source) || source.type !== 'data') return part;
  const { value, mimeType } = source;
  if (typeof value !== 'string' || typeof mimeType !== 'string') return part;
  return { type: 'file', url: `data:${mimeType};base64,${value}`, mediaType: mimeType };
}
