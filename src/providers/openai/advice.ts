import { ProviderError } from '../shared/error.js';
import { toProviderError } from '../shared/failure.js';

/** The API of OpenAI that a model uses: the Responses API or chat completions. */
export type OpenAIApi = 'responses' | 'chat';

/** Matches the error messages for a request that only works with the Responses API. */
const NEEDS_RESPONSES =
  /\bv1\/responses\b|\bresponses api\b|not a chat model|not supported (?:in|with|by) (?:the )?(?:v1\/)?chat.?completions?/i;

/**
 * Matches the error messages of servers that lack the Responses API, and of models that only work with chat
 * completions.
 */
const NEEDS_CHAT =
  /^404 (?:status code|not found|resource not found|page not found|invalid url|unknown (?:url|path))|\/responses\b.*not found|not found.*\/responses\b|only (?:supported|available) (?:in|with|by) (?:the )?(?:v1\/)?chat.?completions?/i;

/**
 * Adds advice to an error that says that the model needs the other API of OpenAI: the option `api` to set. Returns any
 * other error unchanged.
 */
export function withAdvice(
  thrown: unknown,
  { model, api }: { readonly model: string; readonly api: OpenAIApi },
): unknown {
  const error = toProviderError('openai', thrown);
  if (!(error instanceof ProviderError) || error.status === undefined || error.status >= 500) return error;
  const other = api === 'chat' ? 'responses' : 'chat';
  const isRefused = (api === 'chat' ? NEEDS_RESPONSES : NEEDS_CHAT).test(error.message);
  if (!isRefused) return error;
  const advice = `Use openai(${JSON.stringify(model)}, { api: '${other}' }).`;
  return new ProviderError('openai', `${error.message} ${advice}`, { ...error, cause: error.cause });
}
