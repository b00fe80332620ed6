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
 * answers, limits and failures are the same. A response with another status, or a part of a response, is the output of a
 * hook that failed, because a refusal in it counts. Follows no redirect. Never rejects.
 */
export async function postEvent(request: HandlerRequest) {
  const { signal, timeoutMs, clock } = request;
  const startedAt = clock.now();
  const ended = createDeferred<'timed-out' | 'aborted'>();
  const stop = new AbortController();
  const chunks: Uint8Array[] = [];
  const timer = clock.setTimeout(() => ended.resolve('timed-out'), timeoutMs);
  const release = onAbort(signal, () => ended.resolve('aborted'));
  if (signal?.aborted) ended.resolve('aborted');
  try {
    const sent = send(request, { signal: stop.signal, chunks }).catch((error: unknown) => failed(withCause(error)));
    const ending = await Promise.race([sent, ended.promise.then((outcome) => ({ outcome }))]);
    return { ...EMPTY, ...ending, ...outputOf(chunks), durationMs: clock.now() - startedAt };
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

type Ending = Pick<ProcessResult, 'outcome'> & Partial<ProcessResult>;

function failed(message: string): Ending {
  const hint = 'Check the URL of the hook and its server.';
  return { outcome: 'spawn-failed', exitCode: null, failure: { code: 'other', message, hint } };
}

/** Returns the message of an error with its cause, because `fetch` itself only says "fetch failed". */
function withCause(error: unknown): string {
  const { cause } = Object(error);
  return cause === undefined ? describeError(error) : `${describeError(error)}: ${describeError(cause)}`;
}

/** Sends the request, and collects the body of the response in `chunks`. */
async function send(
  { url, handler, body, fetch: request = fetch }: HandlerRequest,
  { signal, chunks }: { readonly signal: AbortSignal; readonly chunks: Uint8Array[] },
): Promise<Ending> {
  const headers = headersOf(handler);
  // The error of `fetch` would quote the value, which may be a secret.
  const wrong = Object.keys(headers).find((name) => /[\r\n\0]/.test(headers[name] ?? ''));
  if (wrong !== undefined) return failed(`The value of a variable in the header "${wrong}" contains a line break`);
  const response = await request(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headers, 'content-type': 'application/json' },
    body: await body,
    signal,
  });
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MOST_BYTES) break;
  }
  return response.ok ? { outcome: 'exited' } : failed(`The server of the hook answered with status ${response.status}`);
}

function outputOf(chunks: readonly Uint8Array[]): Pick<ProcessResult, 'stdout' | 'stdoutTruncated'> {
  const bytes = Buffer.concat(chunks);
  return { stdout: bytes.toString('utf8', 0, MOST_BYTES), stdoutTruncated: bytes.length > MOST_BYTES };
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
