import { isObject, objectsIn, type WireObject } from '../shared/wire.js';
import type { AiSdkModel } from './model.js';

type Ttl = '5m' | '1h';

/**
 * Returns the provider options that set a cache breakpoint, up to which the provider caches a prompt. Returns undefined
 * for a provider that caches without breakpoints.
 */
function markFor({ provider, modelId }: AiSdkModel, ttl: Ttl): WireObject | undefined {
  const lifetime = ttl === '1h' ? { ttl } : {};
  if (/^amazon-bedrock/.test(provider) && !/anthropic/.test(provider)) {
    const isCached = /claude|anthropic|nova/i.test(modelId);
    return isCached ? { bedrock: { cachePoint: { type: 'default', ...lifetime } } } : undefined;
  }
  if (!/anthropic/.test(provider)) return undefined;
  return { anthropic: { cacheControl: { type: 'ephemeral', ...lifetime } } };
}

/**
 * Returns the call options with cache breakpoints at the end of the instructions, of the tools and of the conversation.
 * Breakpoints that the application has set stay.
 */
export function withCacheMarks(options: WireObject, model: AiSdkModel, ttl: Ttl): WireObject {
  const mark = markFor(model, ttl);
  if (mark === undefined) return options;
  const prompt = objectsIn(options.prompt);
  const system = prompt.findLastIndex(({ role }) => role === 'system');
  const marked = prompt.map((message, at) =>
    at === system || at === prompt.length - 1 ? withMark(message, mark) : message,
  );
  const tools = objectsIn(options.tools);
  const last = tools.findLastIndex(({ type }) => type === 'function');
  const changed = { ...options, prompt: marked };
  if (mark.anthropic === undefined || last < 0) return changed;
  return { ...changed, tools: tools.map((tool, at) => (at === last ? withMark(tool, mark) : tool)) };
}

function withMark(target: WireObject, mark: WireObject): WireObject {
  const given = isObject(target.providerOptions) ? target.providerOptions : {};
  const [[family, fields] = ['', {}]] = Object.entries(mark);
  const own = isObject(given[family]) ? given[family] : {};
  return { ...target, providerOptions: { ...given, [family]: { ...(isObject(fields) && fields), ...own } } };
}
