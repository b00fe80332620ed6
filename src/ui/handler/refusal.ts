import { UIMethodInvalidError, UIRequestError } from '../error.js';
import type { HandlerConfig } from './handler-options.js';

/**
 * Returns the response for a refused or failed request, with the error code in the header `keelson-error`.
 *
 * For a message or a stream, the body is the plain error message, because clients of the AI SDK and of AG-UI show the
 * body unchanged. Every other body is `{ error: { code, message } }`.
 */
export function refusal(error: unknown, request: Request, { protocol, texts }: HandlerConfig): Response {
  const { code, message, status } = error instanceof UIRequestError ? error : failure(error, texts);
  const headers: Record<string, string> = { 'keelson-error': code };
  if (error instanceof UIMethodInvalidError) headers.allow = error.allow;
  if (error instanceof UIRequestError && error.retryable) headers['retry-after'] = '1';
  const isShown =
    protocol !== 'sse' && !/\/(history|decide|stop|send|edit|cancel)$/.test(new URL(request.url).pathname);
  return isShown
    ? new Response(message, { status, headers })
    : Response.json({ error: { code, message } }, { status, headers });
}

function failure(error: unknown, { errorText }: HandlerConfig['texts']) {
  const { code } = Object(error);
  const isKnown = typeof code === 'string' && code.startsWith('ERR_');
  return { code: isKnown ? code : 'ERR_UI_FAILED', message: errorText(error), status: 500 };
}
