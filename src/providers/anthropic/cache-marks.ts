import { defined, isObject, objectsIn, textOr, type WireObject } from '../shared/wire.js';

/** The largest number of cache breakpoints that the API accepts in one request. */
const MOST_MARKS = 4;

/**
 * Returns the body of a request with cache breakpoints at the end of the conversation, of the tools and of the system
 * prompt. Breakpoints that the application has set stay, and count towards the limit of the API.
 */
export function withCacheMarks(body: WireObject, ttl: '5m' | '1h'): WireObject {
  const mark = ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
  const { system, tools, messages } = body;
  let left = MOST_MARKS - marksIn([body, system, tools, messages]);
  const marked = (blocks: unknown) => {
    const list = objectsIn(blocks);
    // The API refuses a breakpoint on thinking and on a deferred tool.
    const at = list.findLastIndex((block) => !/thinking$/.test(textOr(block.type)) && block.defer_loading !== true);
    const last = list[at];
    if (last === undefined || last.cache_control !== undefined || left < 1) return blocks;
    left -= 1;
    return list.with(at, { ...last, cache_control: mark });
  };
  const turns = objectsIn(messages);
  const turn = turns.at(-1);
  const conversation = turn === undefined ? messages : turns.with(-1, { ...turn, content: marked(turn.content) });
  return defined({
    ...body,
    messages: conversation,
    tools: marked(tools),
    system: marked(systemBlocks(system)),
  });
}

function systemBlocks(system: unknown): unknown {
  return typeof system === 'string' ? [{ type: 'text', text: system }] : system;
}

function marksIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + marksIn(item), 0);
  if (!isObject(value)) return 0;
  const own = value.cache_control === undefined || value.cache_control === null ? 0 : 1;
  return own + marksIn(value.content);
}
