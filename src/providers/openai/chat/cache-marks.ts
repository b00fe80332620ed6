import { objectsIn, textOr, type WireObject } from '../../shared/wire.js';
import type { Server } from '../client.js';

/** The largest number of cache breakpoints that OpenRouter and DashScope accept in one request. */
const MOST_MARKS = 4;

/** A model, and the server to which its requests go. */
interface Target {
  readonly model: string;
  readonly server: Server;
}

/**
 * Returns the messages with cache breakpoints at the end of the instructions and of the conversation. Only OpenRouter
 * and DashScope need breakpoints.
 *
 * The breakpoint after the instructions covers the tools too. Breakpoints that the application has set stay, and count
 * towards the limit.
 */
export function withCacheMarks(
  messages: readonly WireObject[],
  target: Target,
  ttl: '5m' | '1h',
): readonly WireObject[] {
  const mark = markFor(target, ttl);
  if (mark === undefined) return messages;
  const places = [
    messages.findLastIndex(isMarkable),
    messages.findLastIndex((it) => it.role === 'system' && isMarkable(it)),
  ];
  const free = MOST_MARKS - messages.flatMap(({ content }) => objectsIn(content)).filter(isMarked).length;
  const chosen = new Set(places.filter((at) => at >= 0).slice(0, Math.max(0, free)));
  return messages.map((message, at) =>
    chosen.has(at) ? { ...message, content: marked(message.content, mark) } : message,
  );
}

/**
 * Returns the cache breakpoint for a model, or undefined if it needs none. On OpenRouter, only models of Anthropic and
 * Alibaba need breakpoints.
 */
function markFor({ model, server }: Target, ttl: '5m' | '1h'): WireObject | undefined {
  if (server === 'dashscope') return { type: 'ephemeral' };
  if (server !== 'openrouter') return undefined;
  const [, vendor] = /^~?(anthropic|qwen|alibaba)\//.exec(model) ?? [];
  if (vendor === undefined) return undefined;
  // Alibaba always keeps a cache for five minutes, and has no field for the time.
  return vendor === 'anthropic' && ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
}

function isMarkable({ content }: WireObject): boolean {
  return typeof content === 'string' ? content !== '' : objectsIn(content).some(isText);
}

/** Adds a cache breakpoint to the last text part, because only text parts can have one. */
function marked(content: unknown, mark: WireObject): unknown {
  if (typeof content === 'string') return [{ type: 'text', text: content, cache_control: mark }];
  const parts = objectsIn(content);
  const at = parts.findLastIndex(isText);
  const part = parts[at];
  return part === undefined || isMarked(part) ? content : parts.with(at, { ...part, cache_control: mark });
}

function isText({ type, text }: WireObject): boolean {
  return type === 'text' && textOr(text) !== '';
}

function isMarked({ cache_control: mark }: WireObject): boolean {
  return mark !== undefined && mark !== null;
}
