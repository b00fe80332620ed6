import type { SessionOptions } from '../../agent/agent-options.js';
import { type Clock, MAX_TIMER_MS, systemClock } from '../../internal/clock.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import {
  boolean,
  callable,
  clock,
  listOf,
  logger,
  numberRule,
  oneOf,
  required,
  runLog,
  text,
  timerMs,
  whole,
} from '../../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { Awaitable } from '../../internal/promise.js';
import { MemoryRunLog } from '../../state/run-log/memory-run-log.js';
import { type RunLog, TOUCH_MS } from '../../state/run-log/run-log.js';
import type { PageInput } from '../request.js';
import { type ErrorTextOptions, errorTextRules, resolveErrorTexts, type StreamTexts } from '../stream-texts.js';
import type { ProtocolName } from './protocol.js';

/**
 * Returns the identity of the person who sent a request. A returned Response is sent to the client as it is. Undefined
 * causes a response with status code 401.
 */
export type Authorize<Identity> = (request: Request) => Awaitable<Identity | Response | undefined>;

/** The session of a chat: its id, or session options that contain an id. */
export type ChatSession = string | (SessionOptions & { readonly id: string });

/** A message of a chat that no run has answered yet. */
export interface WaitingPost<Identity = unknown> {
  readonly chatId: string;
  readonly sessionId: string;
  /** The id of the message. */
  readonly messageId: string;
  /** The identity of the person who sent the message. */
  readonly identity: Identity;
}

/** Options of `createAgentHandler`, apart from `context`. */
export interface HandlerOptions<Identity = unknown> extends ErrorTextOptions {
  /**
   * Identifies the person who sent a request. `'none'` accepts each request whose `Host` header is in `hosts`, without
   * an identity.
   */
  readonly authorize: Authorize<Identity> | 'none';
  /**
   * Returns the session of a chat. Undefined causes a response with status code 404.
   *
   * The page chooses the chat id. So the session id must depend on the identity, or the function must check that the
   * chat belongs to the person.
   */
  readonly session: (chatId: string, identity: Identity) => Awaitable<ChatSession | undefined>;
  /**
   * Returns false for a person who may use the chat but not approve or deny its tool calls and answers. The page of
   * this person receives no requests for decisions, and no text of a suspended answer. Default: everybody with a
   * session may decide.
   */
  readonly mayDecide?: ((identity: Identity, chatId: string) => Awaitable<boolean>) | undefined;
  /**
   * Decides what happens to a message while tool calls wait for a decision. `deny` denies the calls and answers the
   * message; the message of a person who may not decide waits instead. `keep` makes every message wait until the calls
   * are decided. `refuse` responds with status code 409.
   *
   * While a suspended answer waits for a decision, messages are refused with any of these values. Default: `deny`.
   */
  readonly whileAsking?: 'deny' | 'keep' | 'refuse' | undefined;
  /**
   * Called once for each message that waits while no run is active, such as after the failure of a run. To answer the
   * message, call `session.run('')` in any process. Default: the handler starts that run.
   */
  readonly onPost?: ((post: WaitingPost<Identity>) => Awaitable<void>) | undefined;
  /** The protocol of requests and responses. Default: `'ai-sdk'`. */
  readonly protocol?: ProtocolName | undefined;
  /**
   * Offers the `tools` of an AG-UI page to the model. Only the page runs these tools. False ignores them.
   *
   * Their names, descriptions and results are as untrusted as messages, because the page can send any text. Default:
   * true.
   */
  readonly pageTools?: boolean | undefined;
  /** Other origins whose web pages may send requests, such as `https://app.example.com`. Default: none. */
  readonly origins?: readonly string[] | undefined;
  /**
   * The names of this server, such as `app.example.com`. A request whose `Host` header has another name is refused.
   *
   * Default: with `authorize: 'none'`, the loopback names `localhost`, `127.0.0.1` and `[::1]`; otherwise every name.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * True if a proxy sets `x-forwarded-host` and `x-forwarded-proto` and overwrites values from the client. These
   * headers then name the origin of this server, instead of the `Host` header. Default: false.
   */
  readonly trustProxy?: boolean | undefined;
  /**
   * Maximum size of the last message of a request, in bytes. The whole request may be 16 times as large, because a page
   * may send the whole chat each time. Default: 4 MiB.
   */
  readonly maxBodyBytes?: number | undefined;
  /**
   * `continue` lets a run continue when its page goes away, and the page can come back with `GET …/<id>/stream`. `abort` stops
   * it. Default: `continue`.
   */
  readonly onDisconnect?: 'continue' | 'abort' | undefined;
  /**
   * Called with a promise that resolves when a run and its background work have ended. For hosts that stop the code of
   * a request when its connection ends: pass `waitUntil` of `cloudflare:workers`. Default: none.
   */
  readonly waitUntil?: ((ended: Promise<void>) => void) | undefined;
  /**
   * Milliseconds without a reader after which a run is stopped, with `onDisconnect: 'continue'`. A run stops between
   * two turns, never during a tool call. Default: 600,000.
   */
  readonly orphanMs?: number | undefined;
  /**
   * Stores the events of the runs, so that a page can come back to an answer in any process that shares the log.
   * Default: with `onDisconnect: 'continue'`, the memory of this process; otherwise none.
   */
  readonly runLog?: RunLog | undefined;
  /**
   * Milliseconds without an event after which a stream sends a comment, because proxies close a silent connection.
   * Default: 1,000.
   */
  readonly keepAliveMs?: number | undefined;
  /**
   * Milliseconds that a request waits for the active run of its session. Then the request is refused with 409. Default:
   * 1,000.
   */
  readonly queueMs?: number | undefined;
  /** Logs errors with their details. The page receives only the code of an error. Default: the console. */
  readonly logger?: Logger | undefined;
  /** The clock for `queueMs`. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Options of `createAgentHandler`. `context` is required if the agent has a `Context` type. */
export type AgentHandlerOptions<Context = unknown, Identity = unknown> = HandlerOptions<Identity> &
  (unknown extends Context
    ? { readonly context?: ContextOf<Context, Identity> | undefined }
    : { readonly context: ContextOf<Context, Identity> });

/**
 * Returns the `context` that the hooks and tools of a run receive. `page` has the `context`, the `state` and the
 * `forwardedProps` of an AG-UI page; with other protocols it is empty.
 *
 * Without this function, the context of the run is `page` if the page sent any of them.
 */
type ContextOf<Context, Identity> = (identity: Identity, request: Request, page: PageInput) => Awaitable<Context>;

/** The options of a handler with defaults applied. */
export interface HandlerConfig {
  readonly authorize: Authorize<unknown> | 'none';
  readonly session: HandlerOptions['session'];
  readonly mayDecide: NonNullable<HandlerOptions['mayDecide']>;
  readonly whileAsking: 'deny' | 'keep' | 'refuse';
  readonly onPost: HandlerOptions['onPost'];
  readonly context: ContextOf<unknown, unknown> | undefined;
  readonly protocol: ProtocolName;
  readonly pageTools: boolean;
  readonly origins: readonly string[];
  /** The names that the `Host` header may have. Undefined if every name is accepted. */
  readonly hosts: readonly string[] | undefined;
  readonly trustProxy: boolean;
  readonly maxBodyBytes: number;
  readonly onDisconnect: 'continue' | 'abort';
  readonly waitUntil: HandlerOptions['waitUntil'];
  readonly orphanMs: number;
  readonly runLog: RunLog | undefined;
  readonly keepAliveMs: number;
  readonly queueMs: number;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly texts: StreamTexts;
}

const authorize: OptionRule = {
  expected: "a function that returns an identity, or 'none' to let everybody in",
  accepts: (value) => typeof value === 'function' || value === 'none',
};
const origin: OptionRule = {
  expected: 'an origin such as "https://app.example.com", without a path',
  accepts: (value) => text.accepts(value) && URL.canParse(value as string) && new URL(value as string).origin === value,
};

const host: OptionRule = {
  expected: 'the name of a host such as "app.example.com", with or without a port',
  accepts: (value) => text.accepts(value) && URL.canParse(`http://${value}`) && !/[/@?#]/.test(value as string),
};
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const rules = {
  ...errorTextRules,
  authorize: required(authorize),
  session: required(callable),
  mayDecide: callable,
  whileAsking: oneOf('deny', 'keep', 'refuse'),
  onPost: callable,
  context: callable,
  protocol: oneOf('ai-sdk', 'ai-sdk-6', 'ag-ui', 'sse'),
  pageTools: boolean,
  origins: listOf(origin),
  hosts: listOf(host),
  trustProxy: boolean,
  maxBodyBytes: whole(1),
  onDisconnect: oneOf('continue', 'abort'),
  waitUntil: callable,
  orphanMs: numberRule(`milliseconds from ${2 * TOUCH_MS} to ${MAX_TIMER_MS}`, 2 * TOUCH_MS, MAX_TIMER_MS),
  runLog,
  keepAliveMs: timerMs,
  queueMs: numberRule('milliseconds from 0 to 3,600,000', 0, 3_600_000),
  logger,
  clock,
} satisfies OptionTable<AgentHandlerOptions>;

/** Checks the options and fills in the defaults. Throws an OptionInvalidError if an option is invalid or missing. */
export function resolveHandlerOptions(options: object): HandlerConfig {
  validateOptions(options, rules);
  const all = options as AgentHandlerOptions;
  const { onDisconnect = 'continue' } = all;
  return {
    authorize: all.authorize,
    session: all.session,
    mayDecide: all.mayDecide ?? (() => true),
    whileAsking: all.whileAsking ?? 'deny',
    onPost: all.onPost,
    context: all.context,
    protocol: all.protocol ?? 'ai-sdk',
    pageTools: all.pageTools ?? true,
    origins: all.origins ?? [],
    hosts: all.hosts ?? (all.authorize === 'none' ? LOOPBACK : undefined),
    trustProxy: all.trustProxy ?? false,
    maxBodyBytes: all.maxBodyBytes ?? 4 * 1024 * 1024,
    onDisconnect,
    waitUntil: all.waitUntil,
    orphanMs: all.orphanMs ?? 600_000,
    runLog: all.runLog ?? (onDisconnect === 'continue' ? new MemoryRunLog({ clock: all.clock }) : undefined),
    keepAliveMs: all.keepAliveMs ?? 1_000,
    queueMs: all.queueMs ?? 1_000,
    logger: all.logger ?? consoleLogger,
    clock: all.clock ?? systemClock,
    texts: resolveErrorTexts(all),
  };
}
