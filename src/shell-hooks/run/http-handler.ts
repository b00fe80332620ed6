import { describeError } from '../../errors.js';
import { createDeferred } from '../../internal/promise.js';
import { onAbort } from '../../internal/stop.js';
import type { ProcessResult } from '../../process/run-process.js';
import type { HttpHandler } from '../hook/definition.js';
import type { HookSystem } from './system.js';

/** One request to an HTTP handler. */
export interface HandlerRequest extends Pick<HookSystem, 'clock' | 'fetch'> {
  readonly url: string;
  readonly handler: HttpHandler;
  readonly body: string | Promise<string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The largest number of bytes of a response, which is also the limit for the standard output of a command. */
const MOST_BYTES = 1_048_576;

/**
 * Sends an event to an HTTP handler. Returns the response in the form of a program that ended, so that the rules for
 * answers, limits and failures are the same. Follows no redirect. Never rejects.
 */
export async function postEvent(request: HandlerRequest) {
  const { signal, timeoutMs, clock } = request;
  const startedAt = clock.now();
  const ended = createDeferred<'timed-out' | 'aborted'>();
  const stop = new AbortController();
  const timer = clock.setTimeout(() => ended.resolve('timed-out'), timeoutMs);
  const release = onAbort(signal, () => ended.resolve('aborted'));
  if (signal?.aborted) ended.resolve('aborted');
  try {
    const sent = answerOf(request, stop.signal).catch((error: unknown) => failed(describeError(error)));
    const outcome = await Promise.race([sent, ended.promise]);
    const durationMs = clock.now() - startedAt;
    return typeof outcome === 'string' ? { ...EMPTY, outcome, durationMs } : { ...EMPTY, ...outcome, durationMs };
  } finally {
    stop.abort();
    clock.clearTimeout(timer);
    release();
  }
}

const EMPTY = {
  outcome: 'exited',
  exitCode: 0,
  signal: null,
  stdout: '',
  stdoutTruncated: false,
  stderr: '',
  stderrTruncated: false,
  failure: undefined,
  detachedChild: false,
  stoppedByHost: false,
} satisfies Omit<ProcessResult, 'durationMs'>;

type Answer = Partial<ProcessResult>;

function failed(message: string): Answer {
  const hint = 'Check the URL of the hook and its server.';
  return { outcome: 'spawn-failed', exitCode: null, failure: { code: 'other', message, hint } };
}

async function answerOf(request: HandlerRequest, signal: AbortSignal): Promise<Answer> {
  const { url, handler, body, fetch: send = fetch } = request;
  const response = await send(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headersOf(handler), 'content-type': 'application/json' },
    body: await body,
    signal,
  });
  if (!response.ok) return failed(`The server of the hook answered with status ${response.status}`);
  const { text, isCut } = await readBody(response);
  return { stdout: text, stdoutTruncated: isCut };
}

/** Replaces the listed variables in the values of headers. Every other variable becomes an empty string. */
function headersOf({ headers, variables }: HttpHandler): Record<string, string> {
  const variable = (name: string) => (variables.includes(name) ? (process.env[name] ?? '') : '');
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_whole, braced?: string, bare?: string) =>
        variable(braced ?? bare ?? ''),
      ),
    ]),
  );
}

async function readBody({ body }: Response): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_BYTES) break;
  }
  return { text: Buffer.concat(chunks).toString('utf8', 0, MOST_BYTES), isCut: length > MOST_BYTES };
}
