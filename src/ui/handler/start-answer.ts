import type { Agent } from '../../agent/agent.js';
import type { RunStream } from '../../agent/run-stream.js';
import type { AgentSession } from '../../agent/session/agent-session.js';
import { streamOf } from '../../agent/session/log/follow-run.js';
import type { SentMessage } from '../../agent/session/sent-message.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import type { Awaitable } from '../../internal/promise.js';
import { WENT_ON } from '../../lifecycle/hook-run/hook-run.js';
import { ANSWER } from '../../model/waiting.js';
import { knows, type SessionRecord, waitingOf } from '../../state/record/session-record.js';
import type { RunLog } from '../../state/run-log/run-log.js';
import type { QueuePlace } from '../../state/session-queue.js';
import type { Tool } from '../../tools/tool.js';
import { UIDecisionMissingError } from '../error.js';
import { beforeAnswer } from '../history/running.js';
import { openAnswerIn, shownIn } from '../history/shown.js';
import type { UIDecision, UIRequest } from '../request.js';
import { checkDecisions } from './check-decisions.js';
import type { Catching } from './followed.js';
import type { ChatSession } from './handler-options.js';
import { type Place, placeOf } from './place.js';
import { watched } from './watched.js';

/** A parsed request, with all data for the run that answers it. */
export interface AnswerRequest {
  readonly read: UIRequest;
  readonly session: ChatSession;
  readonly signal: AbortSignal;
  /** Milliseconds that the request waits for an active run of its session in this process. */
  readonly queueMs: number;
  /**
   * Decides what happens to a message while tool calls wait for a decision. `deny` denies the calls, `keep` makes the
   * message wait, and `refuse` refuses it.
   */
  readonly whileAsking: 'deny' | 'keep' | 'refuse';
  readonly context: unknown;
  /** The tools that the page runs. */
  readonly tools: readonly Tool[] | undefined;
  readonly runLog: RunLog | undefined;
  /** Milliseconds that the run continues without a reader. Undefined if the run ends when its client disconnects. */
  readonly orphanMs: number | undefined;
  /** Throws a UIRequestError if the request contradicts the stored conversation. */
  check(session: StoredSession): Awaitable<void>;
}

/** A run that answers a request. */
export interface StartedAnswer extends Catching {
  /** Undefined if no run was started, because the message waits until a person decides on tool calls. */
  readonly stream: RunStream<unknown> | undefined;
  /** The sent message, if the request was sent to an active run. */
  readonly sent?: SentMessage | undefined;
  readonly session: AgentSession;
  /** The id of the message on the page that the run continues. Undefined for a new message. */
  readonly messageId: string | undefined;
  /** Resolves when the run has ended. Never rejects. */
  readonly done: Promise<void>;
  /** Resolves when the run and its background work have ended. Never rejects. */
  readonly idle: Promise<void>;
}

/**
 * Starts the run that answers a request. If a run is active, sends the message to it and follows it instead. If the
 * active run already answers the same message, only follows it.
 */
export async function startAnswer(agent: Agent<never>, request: AnswerRequest): Promise<StartedAnswer> {
  const session = await openSession(agent, request.session, request.runLog);
  const { stored } = session;
  let place: QueuePlace | undefined;
  const close = () => {
    place?.leave(stored.ending);
    return session.close().catch(() => {});
  };
  try {
    const { read, queueMs } = request;
    const repeated = (await isRepeated(stored, read)) ? await follow(session) : undefined;
    if (repeated !== undefined) return repeated;
    const sent = await sendToRun(session, read);
    const joined = sent && (await follow(session));
    if (joined !== undefined) return { ...joined, sent };
    place = await session.enter(queueMs);
    if (place.before !== undefined || sent !== undefined) await stored.load();
    const { stream, messageId } = await startRun(session, { ...request, read: sent ? { ...read, id: sent.id } : read });
    const leave = () => place?.leave(stored.ending);
    const done = (stream ?? { result: Promise.resolve() }).result.then(leave, leave);
    // Closing the session would stop the works that continue in the background.
    const idle = done.then(() => session.works.idle()).then(close);
    return { stream, session, messageId, done, idle };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Checks the request against the stored conversation, and starts the run. Starts no run if the message must wait for a
 * decision.
 */
async function startRun(session: AgentSession, request: AnswerRequest) {
  const { stored } = session;
  const { record, options, agent } = stored;
  const { signal, read, orphanMs } = request;
  // For a new message, the entries that the model reads are enough.
  if (read.type !== 'message') await stored.loadAll();
  await request.check(stored);
  const { input, id, at, resume, deniesOpen, waits } = await prepare(stored, read, request.whileAsking);
  if (waits) {
    if (read.type === 'message' && record.get(id ?? '') === undefined) await session.send(read.message, { id });
    return { stream: undefined, messageId: undefined };
  }
  const isContinued = resume !== undefined || (id !== undefined && at === undefined && record.get(id) !== undefined);
  const messageId = isContinued ? openAnswerIn(record) : undefined;
  const context = request.context as never;
  const hosted = { isEntered: true, orphanMs, deniesOpen, tools: request.tools };
  const stream = session.stream<unknown>(input, { signal, context, id, at, resume, nested: true }, hosted);
  if (orphanMs === undefined || options.runLog === undefined) return { stream, messageId };
  return { stream: watched(stream, options.runLog, agent.defaults.clock), messageId };
}

/**
 * Follows the active run of a chat, which may run in another process. Returns undefined if no run is active, or if the
 * session has no run log.
 */
export async function followAnswer(
  agent: Agent<never>,
  chat: ChatSession,
  runLog: RunLog | undefined,
): Promise<FollowedAnswer | undefined> {
  const session = await openSession(agent, chat, runLog);
  let followed: FollowedAnswer | undefined;
  try {
    followed = await follow(session);
  } finally {
    if (followed === undefined) await session.close().catch(() => {});
  }
  return followed;
}

async function follow(session: AgentSession): Promise<FollowedAnswer | undefined> {
  const { stored, host } = session;
  const { runLog } = stored.options;
  const running = runLog && (await stored.running());
  if (runLog === undefined || running === undefined) return undefined;
  const stream = streamOf(stored, { log: runLog, runId: running, from: 0, nested: true, stop: host.life.stop });
  const close = () => session.close().catch(() => {});
  stream.result.then(close, close);
  const before = beforeAnswer(stored.record, running);
  const messageId = openAnswerIn(before);
  const answer = shownIn(before).at(-1);
  const steps = answer?.type === 'answer' && answer.id === messageId ? answer.steps : [];
  const load = () => stored.load().then(() => stored.loadAll());
  const done = Promise.resolve();
  return { stream, session, messageId, load, steps, done, idle: done };
}

/** Sends a new message to the active run. Returns undefined if no run is active, or if the page could not follow it. */
async function sendToRun(session: AgentSession, read: UIRequest): Promise<SentMessage | undefined> {
  const { stored } = session;
  if (read.type !== 'message' || read.edited || stored.options.runLog === undefined) return undefined;
  if (stored.record.get(read.id ?? '') !== undefined || (await stored.running()) === undefined) return undefined;
  const { at, input } = await placeOf(stored, read);
  return at === undefined && input !== '' ? session.send(input, { id: read.id }) : undefined;
}

/** Returns true if the request repeats the latest user message. */
async function isRepeated(session: StoredSession, read: UIRequest): Promise<boolean> {
  if (read.type !== 'message' || !knows(session.record, read.id ?? '')) return false;
  const { id, at } = await placeOf(session, read);
  return at === undefined && session.record.get(id ?? '') !== undefined;
}

/** An active run that a page follows. */
export type FollowedAnswer = StartedAnswer & { readonly stream: RunStream<unknown> };

/** Opens the session of a chat, and calls `onSessionStart`. */
export async function openSession(
  agent: Agent<never>,
  session: ChatSession,
  runLog: RunLog | undefined,
): Promise<AgentSession> {
  const options = typeof session === 'string' ? { id: session } : session;
  const opened = await agent.session({ runLog, ...options });
  return opened as unknown as AgentSession;
}

/** Opens the session of a chat, passes it to `use`, and closes it. */
export async function withSession<Result>(
  opening: Promise<AgentSession>,
  use: (session: AgentSession) => Promise<Result>,
): Promise<Result> {
  const session = await opening;
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

interface Prepared extends Place {
  /** True if the message must wait until a person decides on tool calls. */
  readonly waits?: boolean | undefined;
  readonly deniesOpen?: string | undefined;
  readonly resume?: Readonly<Record<string, UIDecision>> | undefined;
}

async function prepare(
  session: StoredSession,
  read: UIRequest,
  whileAsking: AnswerRequest['whileAsking'],
): Promise<Prepared> {
  const { record } = session;
  if (read.type === 'decisions') {
    return { input: '', resume: await checkDecisions(session, read) };
  }
  const place = await placeOf(session, read);
  const open = openIds(record);
  // A new branch starts before the open calls, so they do not matter.
  if (place.at !== undefined || open.length === 0) return place;
  const known = record.posts.stateOf(place.id ?? '')?.type ?? record.get(place.id ?? '');
  const isNew = place.input !== '' && (known === undefined || known === 'waiting');
  if (whileAsking === 'refuse' || !isNew || open.includes(ANSWER)) throw new UIDecisionMissingError(open);
  return whileAsking === 'keep' ? { ...place, waits: true } : { ...place, deniesOpen: WENT_ON };
}

function openIds(record: SessionRecord): readonly string[] {
  return waitingOf(record).map(({ id }) => id);
}
