import { UIMethodInvalidError, UIRequestError } from '../error.js';
import type { HandlerConfig } from './handler-options.js';

/**
 * Returns the response for a refused or failed request, with the code in the header `keelson-error`. Clients of the AI SDK and
 * of AG-UI show the body of a refused message or stream as it is, so that body is the plain message. Every other body is
 * `{ error: { code, message } }`.
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
