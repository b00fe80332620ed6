/** The members of `http.ServerResponse` that `pipeResponse` uses. Express responses have them too. */
export interface ServerResponseLike {
  /** Sends the status code and the headers. */
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  /** Sends the headers before the first chunk of the body. */
  flushHeaders?(): unknown;
  /** Sends a chunk of the body. Returns false if the buffer is full; a `drain` event follows when it has space. */
  write(chunk: Uint8Array): boolean;
  /** Ends the response. */
  end(): unknown;
  /** Adds a listener for one event. */
  once(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
  /** Removes a listener. */
  off(event: 'drain' | 'close' | 'error', listener: () => void): unknown;
  readonly destroyed: boolean;
  readonly writableEnded?: boolean | undefined;
}

/**
 * Writes a web response to a response of `node:http`. Waits while the client reads slowly. If the client disconnects,
 * cancels the body, which aborts its run.
 *
 * Resolves when everything is written or the client has disconnected.
 *
 * @example
 * import { createServer } from 'node:http';
 *
 * createServer((_request, response) => void pipeResponse(sseResponse(agent.stream('Hello')), response)).listen(3000);
 */
export async function pipeResponse(response: Response, target: ServerResponseLike): Promise<void> {
  target.writeHead(response.status, headersOf(response));
  target.flushHeaders?.();
  const reader = response.body?.getReader();
  if (reader === undefined) return void target.end();
  const cancel = () => void reader.cancel('the client disconnected').catch(() => {});
  // If the response is already closed, its `close` event will not occur again.
  if (target.destroyed) return cancel();
  target.once('close', cancel);
  target.once('error', cancel);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (target.destroyed) return;
      if (!target.write(next.value)) await drained(target);
    }
    if (!target.destroyed) target.end();
  } finally {
    target.off('close', cancel);
    target.off('error', cancel);
  }
}

function headersOf({ headers }: Response): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  const all = Object.fromEntries(headers);
  return cookies.length > 0 ? { ...all, 'set-cookie': cookies } : all;
}

function drained(target: ServerResponseLike): Promise<void> {
  if (target.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      target.off('drain', settle);
      target.off('close', settle);
      resolve();
    };
    target.once('drain', settle);
    target.once('close', settle);
  });
}
