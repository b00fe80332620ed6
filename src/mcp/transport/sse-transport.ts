import { createDeferred } from '../../internal/promise.js';
import { McpUnavailableError } from '../error.js';
import { HttpClient, type HttpOptions } from './http-client.js';
import { isEventStream, readEvents, type ServerSentEvent } from './http-response.js';
import { AnswerTooLongError, type JsonRpcMessage } from './json-rpc.js';
import type { McpTransport } from './transport.js';

/** The HTTP and SSE transport of older servers. The connection ends when the event stream of the server ends. */
export class SseTransport implements McpTransport {
  onclose: (() => void) | undefined = undefined;
  onerror: ((error: Error) => void) | undefined = undefined;
  onmessage: ((message: JsonRpcMessage) => void) | undefined = undefined;
  private readonly http: HttpClient;
  /** The URL that messages are sent to. The server sends it in its first event. */
  private readonly endpoint = createDeferred<URL>();

  constructor(private readonly options: HttpOptions) {
    this.http = new HttpClient(options, this);
    this.endpoint.promise.catch(() => {});
  }

  get ending(): string | undefined {
    return this.http.ending;
  }

  get protocolVersion(): string | undefined {
    return this.http.protocolVersion;
  }

  setProtocolVersion(version: string): void {
    this.http.protocolVersion = version;
  }

  async start(): Promise<void> {
    const response = await this.http.openStream(this.http.closing.signal);
    if (!isEventStream(response)) throw await this.http.refusal(response);
    void this.listen(response);
    await this.endpoint.promise;
  }

  async send(message: JsonRpcMessage): Promise<void> {
    await this.http.whileOpen(async (signal) => this.http.post(message, { url: await this.endpoint.promise, signal }));
  }

  async close(): Promise<void> {
    this.end(undefined);
  }

  private async listen({ body }: Response): Promise<void> {
    try {
      for await (const event of readEvents(body, this.options.maxBytes)) this.take(event);
    } catch (error) {
      if (error instanceof AnswerTooLongError) this.end(error.message);
    }
    this.end('the event stream has ended');
  }

  private take({ name, data }: ServerSentEvent): void {
    if (name === 'endpoint') this.setEndpoint(data);
    if (name === 'message' && data !== '') this.http.receive(data);
  }

  /** Accepts only a URL of the same origin, since the configured headers are sent there. */
  private setEndpoint(address: string): void {
    const { url } = this.options;
    const endpoint = URL.canParse(address, url.href) ? new URL(address, url) : undefined;
    if (endpoint?.origin === url.origin) this.endpoint.resolve(endpoint);
    else this.end('its endpoint for messages must have the same origin as its `url`');
  }

  private end(reason: string | undefined): void {
    this.http.end(reason);
    this.endpoint.reject(new McpUnavailableError(this.options.server, reason ?? 'it was closed'));
  }
}
