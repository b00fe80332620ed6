import { UIMethodInvalidError, UIRequestError, UISessionBusyError } from '../error.js';
import type { StreamTexts } from '../stream-texts.js';

/** How an error is shown and reported. */
export interface ErrorReport {
  readonly texts: StreamTexts;
  /** Called for errors that the page must not see. */
  readonly report: (error: unknown) => void;
}

/** Returns the response for a refused or failed request: `{ error: { code, message } }`. */
export function errorResponse(error: unknown, { texts, report }: ErrorReport): Response {
  if (error instanceof UIRequestError) {
    const { code, message, status } = error;
    const headers: Record<string, string> = {};
    if (error instanceof UIMethodInvalidError) headers.allow = error.allow;
    if (error instanceof UISessionBusyError) headers['retry-after'] = '1';
    return Response.json({ error: { code, message } }, { status, headers });
  }
  report(error);
  const failure = error as { readonly code?: unknown } | null | undefined;
  const code = typeof failure?.code === 'string' && failure.code.startsWith('ERR_') ? failure.code : 'ERR_UI_FAILED';
  return Response.json({ error: { code, message: texts.errorText(error) } }, { status: 500 });
}
