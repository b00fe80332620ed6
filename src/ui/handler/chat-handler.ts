import type { Agent } from '../../agent/agent.js';
import { Receipt } from '../../agent/session/sent-message.js';
import { EntryInvalidError, SessionBusyError } from '../../agent/session/session-error.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import { AgentClosedError } from '../../errors.js';
import { type Logger, logFailure } from '../../internal/logger.js';
import { invalidOption } from '../../internal/options/validate.js';
import {
  UIChatUnknownError,
  UIClosingError,
  UIDecisionRefusedError,
  UIMessageUnknownError,
  UIMethodInvalidError,
  UIRequestError,
  UISessionBusyError,
  UIUnauthorizedError,
} from '../error.js';
import { loadPage, type PageQuery, readPageQuery } from '../history/load-page.js';
import { pendingIn, waitingIn, worksIn } from '../history/pending.js';
import { invalidBody } from '../invalid-body.js';
import { readChatId, readDecisions, readMessageId, readSend } from '../sse/from-sse-body.js';
import { keepAlive } from '../sse/keep-alive.js';
import { pipeResponse, type ServerResponseLike } from '../sse/pipe.js';
import { ChatRuns, type Sender } from './chat-runs.js';
import type { ChatSession, HandlerConfig } from './handler-options.js';
import { allowOrigin, checkOrigin, preflight } from './origin.js';
import { PageInputs } from './page-inputs.js';
import { type Answer, type Protocol, protocols, type ReadRequest } from './protocol.js';
import { readBody } from './read-body.js';
import { refusal } from './refusal.js';
import { type AnswerRequest, followAnswer, openSession, type StartedAnswer, withSession } from './start-answer.js';

/** Checks and answers the requests to one handler from `createAgentHandler`. */
export class ChatHandler {
  private readonly protocol: Protocol;
  private readonly runs: ChatRuns;
  private readonly inputs: PageInputs;

  constructor(
    private readonly agent: Agent<never>,
    private readonly config: HandlerConfig,
  ) {
    this.protocol = protocols[config.protocol];
    this.runs = new ChatRuns(agent, config);
    this.inputs = new PageInputs(agent, config);
  }

  /**
   * Answers a request. If a server of `node:http` has called the handler directly, sends an error to its `response`.
   */
  async handle(request: Request, response: unknown): Promise<Response> {
    const { config } = this;
    const { origins, logger } = config;
    if (typeof request?.headers?.get !== 'function') return refuseNodeRequest(request, response, logger);
    try {
      checkOrigin(request, config);
      if (request.method === 'OPTIONS') return allowOrigin(preflight(request), request, origins);
      return allowOrigin(await this.answer(request), request, origins);
    } catch (caught) {
      const error = inWords(caught);
      if (!(error instanceof UIRequestError)) logFailure({ logger }, 'A chat request failed.', error);
      return allowOrigin(refusal(error, request, config), request, origins);
    }
  }

  private async answer(request: Request): Promise<Response> {
    const route = new URL(request.url).pathname.split('/').at(-1);
    const isWatched = route === 'stream' && request.method === 'GET';
    const method = route === 'history' || isWatched ? 'GET' : 'POST';
    if (request.method !== method) throw new UIMethodInvalidError(request.method, method);
    const { authorize } = this.config;
    const identity = authorize === 'none' ? undefined : await authorize(request);
    if (identity instanceof Response) return identity;
    if (authorize !== 'none' && !identity) throw new UIUnauthorizedError();
    if (route === 'history') return this.history(request, identity);
    if (isWatched) return this.watch(request, identity);
    const body = await readBody(request, this.config.maxBodyBytes);
    if (route === 'stop') return this.stop(body, identity);
    if (route === 'send' || route === 'edit' || route === 'cancel')
      return this.send(route, body, { request, identity });
    if (route === 'decide') return this.run({ request, identity, read: readDecide(body), check: () => {} });
    const read = this.protocol.read(body);
    return this.run({ request, identity, read, check: (session) => this.protocol.check(body, session) });
  }

  private async history(request: Request, identity: unknown): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const chatId = readChatId(searchParams.get('id'));
    const query = readPageQuery(searchParams);
    const chat = await this.sessionOf(chatId, identity);
    const decides = await this.config.mayDecide(identity as never, chatId);
    const page = await withSession(openSession(this.agent, chat, this.config.runLog), ({ stored }) =>
      this.pageOf(stored, query, decides),
    );
    return answerJson(page);
  }

  private async pageOf(stored: StoredSession, query: PageQuery, decides: boolean) {
    const running = await stored.running();
    // A page that can come back receives the running answer as a stream.
    const left = stored.options.runLog === undefined ? undefined : running;
    const { shown, before } = await loadPage(stored, { ...query, running: left });
    const look = { decides, ...this.config.texts };
    const messages = this.protocol.messages(shown, look);
    const open = pendingIn(stored.record);
    const pending = decides ? open : open.map(({ id }) => ({ id }));
    const waits = waitingIn(stored.record);
    const waiting = waits.length > 0 ? this.protocol.messages(waits, look) : undefined;
    const works = worksIn(stored.record);
    const background = works.length > 0 ? works : undefined;
    return { messages, waiting, background, pending, running: running !== undefined, before };
  }

  /** Responds with the events of the active run of a chat, which may run in another process. */
  private async watch(request: Request, identity: unknown): Promise<Response> {
    const { config, protocol } = this;
    const chatId = readWatchedId(new URL(request.url));
    const chat = await this.sessionOf(chatId, identity);
    const decides = await config.mayDecide(identity as never, chatId);
    const followed = await followAnswer(this.agent, chat, config.runLog);
    if (followed === undefined) return protocol.idle();
    const after = request.headers.get('last-event-id') ?? undefined;
    return this.respond(followed, { chatId, decides, after });
  }

  private async stop(body: unknown, identity: unknown): Promise<Response> {
    const chat = await this.sessionOf(readChatId((body as { readonly id?: unknown } | null)?.id), identity);
    return answerJson({ stopped: await this.runs.stop(chat) });
  }

  /** Sends a message to the active run. Also edits or withdraws a message that the run has not read yet. */
  private async send(route: string, body: unknown, { request, identity }: PageRequest): Promise<Response> {
    const chatId = readChatId((body as { readonly id?: unknown } | null)?.id);
    if (route === 'send') {
      const message = readSend(body);
      const sender = await this.senderOf({ request, identity }, { chatId });
      const sent = await this.runs.send(sender, message);
      return answerJson({ id: sent.id, ...(await sent.state()) });
    }
    const messageId = readMessageId(body);
    const edited = route === 'edit' ? readSend(body).message : undefined;
    const chat = await this.sessionOf(chatId, identity);
    const changed = await withSession(openSession(this.agent, chat, undefined), ({ stored }) => {
      const sent = new Receipt(stored, messageId);
      return edited === undefined ? sent.cancel() : sent.edit(edited);
    });
    return answerJson(edited === undefined ? { cancelled: changed } : { edited: changed });
  }

  private async run({ request, identity, read, check }: RunRequest): Promise<Response> {
    const sender = await this.senderOf({ request, identity }, read);
    if (!sender.decides && read.type === 'decisions') throw new UIDecisionRefusedError();
    const started = await this.runs.start(sender, { read, check }, request.signal);
    return this.respond(started, { chatId: read.chatId, runId: read.runId, decides: sender.decides });
  }

  private async senderOf(
    { request, identity }: PageRequest,
    read: Parameters<PageInputs['take']>[0]['read'],
  ): Promise<Sender> {
    const { config } = this;
    const session = await this.sessionOf(read.chatId, identity);
    const decides = await config.mayDecide(identity as never, read.chatId);
    const input = await this.inputs.take({ identity, request, read });
    return { chatId: read.chatId, session, identity, decides, ...input };
  }

  private respond({ stream, session, messageId, load, steps }: StartedAnswer, page: AnswerPage): Response {
    if (stream === undefined) return this.protocol.waiting();
    const { texts, keepAliveMs, clock } = this.config;
    const entries = () => session.entries;
    const { body, headers } = this.protocol.respond(stream, { ...texts, ...page, messageId, entries, load, steps });
    return new Response(body && keepAlive(body, keepAliveMs, clock), { headers });
  }

  private async sessionOf(chatId: string, identity: unknown): Promise<ChatSession> {
    const session = await this.config.session(chatId, identity as never);
    if (session === undefined || session === null) throw new UIChatUnknownError();
    return session;
  }
}

/** A request, and the identity of the person who sent it. */
interface PageRequest {
  readonly request: Request;
  readonly identity: unknown;
}

interface RunRequest extends PageRequest {
  readonly read: ReadRequest;
  readonly check: AnswerRequest['check'];
}

type AnswerPage = Pick<Answer, 'chatId' | 'runId' | 'decides' | 'after'>;

/** Headers that stop caches from storing the messages of a person. */
const NOT_CACHED = { 'cache-control': 'no-store' };

function answerJson(body: unknown): Response {
  return Response.json(body, { headers: NOT_CACHED });
}

/** Returns the chat id of `…/<id>/stream`, or of `…/stream?id=<id>`. */
function readWatchedId({ pathname, searchParams }: URL): string {
  const id = searchParams.get('id');
  if (id !== null) return readChatId(id);
  try {
    return readChatId(decodeURIComponent(pathname.split('/').at(-2) ?? ''));
  } catch (error) {
    if (error instanceof UIRequestError) throw error;
    throw invalidBody('the chat id in the path', 'percent-encoded UTF-8', pathname);
  }
}

function readDecide(body: unknown): RunRequest['read'] {
  const { id, decisions, runId } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (runId !== undefined && (typeof runId !== 'string' || runId === '')) {
    throw invalidBody('`runId`', 'a non-empty string', runId);
  }
  return { type: 'decisions', chatId: readChatId(id), decisions: readDecisions(decisions), runId };
}

/** Converts an error of the agent to the error for the response. */
function inWords(error: unknown): unknown {
  // The session has no such entry, or no run may begin after it.
  if (error instanceof EntryInvalidError) return new UIMessageUnknownError();
  if (error instanceof SessionBusyError) return new UISessionBusyError(error.timeoutMs);
  return error instanceof AgentClosedError ? new UIClosingError() : error;
}

/**
 * Sends an error response if a server of `node:http` calls the handler directly, so that its client does not wait
 * forever.
 */
async function refuseNodeRequest(request: unknown, response: unknown, logger: Logger): Promise<Response> {
  const expected = 'a web Request; for `node:http`, pass the handler to `toNodeListener`';
  const error = invalidOption('request', expected, request);
  logFailure({ logger }, error.message, error);
  const { code, message } = error;
  const refused = Response.json({ error: { code, message } }, { status: 500 });
  if (typeof (response as Partial<ServerResponseLike> | undefined)?.end === 'function') {
    await pipeResponse(refused, response as ServerResponseLike);
  }
  return refused;
}
