import { oneOf } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';

/** Options of `promptCache`: how long the provider keeps its cache. */
export interface PromptCacheOptions {
  /**
   * The time to live of the cache. The provider's price for cache writes depends on it. Qwen always uses 5 minutes.
   * Default: 5 minutes.
   */
  readonly ttl?: '5m' | '1h' | undefined;
}

const rules = { ttl: oneOf('5m', '1h') } satisfies OptionTable<PromptCacheOptions>;

/**
 * Makes a lifecycle that sets cache breakpoints at the end of the instructions, of the tools and of the conversation.
 * The provider then caches these parts for the next request.
 *
 * Affects providers that need breakpoints: `anthropic()`, `aiSdk()` with Anthropic's models and Amazon Bedrock, and
 * `openai()` with chat completions on OpenRouter and DashScope. Other providers cache without breakpoints, and get an
 * unchanged request.
 *
 * Priority 2: inside all hooks that change the request.
 *
 * @example
 * const agent = new Agent({ model: anthropic('claude-sonnet-5'), tools, lifecycle: [promptCache({ ttl: '1h' })] });
 */
export function promptCache(options: PromptCacheOptions = {}): AgentLifecycle {
  validateOptions(options, rules);
  const { ttl = '5m' } = options;
  return {
    name: 'prompt-cache',
    priority: 2,
    wrapModelCall: (request, next) => next({ ...request, settings: { promptCache: { ttl }, ...request.settings } }),
  };
}
