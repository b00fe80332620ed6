import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The server's reply to a request. */
export type Reply = ReplyHead & (WholeReply | StreamReply | DropReply);

interface ReplyHead {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Delay before the first byte. */
  readonly delayMs?: number;
}

interface WholeReply {
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, with a text content type unless `headers` sets another. */
  readonly body?: string;
}

interface StreamReply {
  /** Server-sent events: objects as JSON, strings and bytes unchanged. `[DONE]` follows if the stream ends normally. */
  readonly chunks: Iterable<unknown> | AsyncIterable<unknown>;
  /** Splits the bytes into chunks of this length, even inside a character. Default: one chunk for each event. */
  readonly splitBytes?: number;
  /** Delay after each event. */
  readonly gapMs?: number;
  /**
   * The end of the stream: `done` (default), `silent` without `[DONE]`, `drop` closes the connection, `hang` waits for
   * the client.
   */
  readonly end?: 'done' | 'silent' | 'drop' | 'hang';
}

interface DropReply {
  /** Closes the connection without a response. */
  readonly drop: true;
}

/** The parsed body of a request. */
export interface RequestBody {
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly stream?: boolean;
  readonly [field: string]: unknown;
}

/** A received request. */
export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RequestBody;
  /** Resolves at the end of the response: true if the client closed the connection early. */
  readonly closedEarly: Promise<boolean>;
}

/** A server on the loopback interface with OpenAI's chat completions API. */
export interface OpenAIServer extends AsyncDisposable {
  /** The base URL for a client. */
  readonly baseURL: string;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Returns the reply to a request, from its body and the number of earlier requests. */
export type Script = (body: RequestBody, index: number) => Reply | Promise<Reply>;

/** Starts a server on a free port. An array of replies is sent in order, the last one repeated. */
export async function startOpenAIServer(script: Script | readonly Reply[]): Promise<OpenAIServer> {
  const requests: RecordedRequest[] = [];
  const reply: Script = typeof script === 'function' ? script : (_body, index) => nth(script, index);
  const server = createServer((request, response) => {
    answer({ request, response }, reply, requests).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { baseURL: `http://127.0.0.1:${port}/v1`, requests, close, [Symbol.asyncDispose]: close };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer({ request, response }: Exchange, script: Script, requests: RecordedRequest[]): Promise<void> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  const closedEarly = new Promise<boolean>((resolve) => {
    response.once('close', () => resolve(!response.writableFinished));
  });
  const body: RequestBody = JSON.parse(text || '{}');
  requests.push({ path: request.url ?? '', headers: request.headers, body, closedEarly });
  const reply = await script(body, requests.length - 1);
  await sleep(reply.delayMs);
  if ('drop' in reply) response.destroy();
  else if ('chunks' in reply) await sendStream(response, reply);
  else sendWhole(response, reply);
}

function sendWhole(response: ServerResponse, reply: ReplyHead & WholeReply): void {
  const type = reply.json === undefined ? 'text/plain' : 'application/json';
  response.writeHead(reply.status ?? 200, { 'content-type': type, ...reply.headers });
  response.end(reply.json === undefined ? (reply.body ?? '') : JSON.stringify(reply.json));
}

async function sendStream(response: ServerResponse, reply: ReplyHead & StreamReply): Promise<void> {
  const { chunks, splitBytes, gapMs, end = 'done' } = reply;
  response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream; charset=utf-8', ...reply.headers });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  for await (const chunk of chunks) {
    await write(response, split(eventBytes(chunk), splitBytes));
    await sleep(gapMs);
  }
  if (end === 'done') await write(response, [Buffer.from('data: [DONE]\n\n')]);
  if (end === 'drop') response.destroy();
  else if (end !== 'hang') response.end();
}

async function write(response: ServerResponse, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) {
    if (!response.destroyed) await new Promise((resolve) => response.write(piece, resolve));
  }
}

/** Returns the bytes for one chunk of a stream. */
export function eventBytes(chunk: unknown): Buffer {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk);
  return Buffer.from(typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`);
}

function* split(bytes: Buffer, length = bytes.length): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

function nth(replies: readonly Reply[], index: number): Reply {
  return (
    replies[Math.min(index, replies.length - 1)] ?? { status: 500, json: { error: { message: 'No reply is left.' } } }
  );
}

async function sleep(ms = 0): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
