import type { Agent } from '../../agent/agent.js';
import type { RunStream } from '../../agent/run-stream.js';
import type { AgentSession } from '../../agent/session/agent-session.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import type { Awaitable } from '../../internal/promise.js';
import { ANSWER } from '../../state/record/decisions.js';
import type { SessionRecord } from '../../state/record/session-record.js';
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

/** A request that was read, with everything that its run needs. */
export interface AnswerRequest {
  readonly read: UIRequest;
  readonly session: ChatSession;
  readonly signal: AbortSignal;
  /** How long the request waits for the active run of the session in this process, in milliseconds. */
  readonly queueMs: number;
  /** True if a message denies the calls that wait for a decision. */
  readonly deniesOpen: boolean;
  readonly context: unknown;
  /** The tools that the page runs. */
  readonly tools: readonly Tool[] | undefined;
  readonly runLog: RunLog | undefined;
  /** How long the run goes on while nobody watches it. Undefined if the run must not go on without its client. */
  readonly orphanMs: number | undefined;
  /** Throws a UIRequestError if the request contradicts the record of the session. */
  check(session: StoredSession): Awaitable<void>;
}

/** A run that answers a request. */
export interface StartedAnswer extends Catching {
  readonly stream: RunStream<unknown>;
  readonly session: AgentSession;
  /** The id of the answer that the run continues. Undefined for a new answer. */
  readonly messageId: string | undefined;
  /** Resolves when the session is closed. Never rejects. */
  readonly done: Promise<void>;
}

/** Opens the session, compares the request with the record, and starts the run, or follows the run that answers already. */
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
    place = await session.enter(queueMs);
    if (place.before !== undefined) await stored.load();
    const { stream, messageId } = await startRun(session, request);
    const done = stream.result.then(close, close);
    return { stream, session, messageId, done };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Compares the request with the record, and starts the run. */
async function startRun(session: AgentSession, request: AnswerRequest) {
  const { stored } = session;
  const { record, options, agent } = stored;
  const { signal, read, orphanMs } = request;
  // A new message needs only what the model reads.
  if (read.type !== 'message') await stored.loadAll();
  await request.check(stored);
  const { input, id, at, resume, deniesOpen } = await prepare(stored, read, request.deniesOpen);
  const isContinued = resume !== undefined || (id !== undefined && at === undefined && record.get(id) !== undefined);
  const messageId = isContinued ? openAnswerIn(record) : undefined;
  const context = request.context as never;
  const hosted = { isEntered: true, orphanMs, deniesOpen, tools: request.tools };
  const stream = session.stream<unknown>(input, { signal, context, id, at, resume }, hosted);
  if (orphanMs === undefined || options.runLog === undefined) return { stream, messageId };
  return { stream: watched(stream, options.runLog, agent.defaults.clock), messageId };
}

/**
 * Follows the run that holds the conversation, in whatever process it runs. Returns undefined if none does, or if the session
 * has no run log.
 */
export async function followAnswer(
  agent: Agent<never>,
  chat: ChatSession,
  runLog: RunLog | undefined,
): Promise<StartedAnswer | undefined> {
  const session = await openSession(agent, chat, runLog);
  let followed: StartedAnswer | undefined;
  try {
    followed = await follow(session);
  } finally {
    if (followed === undefined) await session.close().catch(() => {});
  }
  return followed;
}

async function follow(session: AgentSession): Promise<StartedAnswer | undefined> {
  const { stored } = session;
  const { runLog } = stored.options;
  const running = runLog && (await stored.running());
  if (runLog === undefined || running === undefined) return undefined;
  const stream = await session.follow(runLog, running);
  const close = () => session.close().catch(() => {});
  stream.result.then(close, close);
  const before = beforeAnswer(stored.record, running);
  const messageId = openAnswerIn(before);
  const answer = shownIn(before).at(-1);
  const steps = answer?.type === 'answer' ? answer.steps : [];
  const load = () => stored.load().then(() => stored.loadAll());
  return { stream, session, messageId, load, steps, done: Promise.resolve() };
}

/** True for the latest message of the person, sent again. */
async function isRepeated(session: StoredSession, read: UIRequest): Promise<boolean> {
  if (read.type !== 'message' || session.record.get(read.id ?? '') === undefined) return false;
  const { id, at } = await placeOf(session, read);
  return at === undefined && session.record.get(id ?? '') !== undefined;
}

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

/** The reason of a denial, if the person sends a message instead of a decision. */
const WENT_ON = 'The person went on without a decision.';

interface Prepared extends Place {
  readonly deniesOpen?: string | undefined;
  readonly resume?: Readonly<Record<string, UIDecision>> | undefined;
}

async function prepare(session: StoredSession, read: UIRequest, deniesOpen: boolean): Promise<Prepared> {
  const { record } = session;
  if (read.type === 'decisions') {
    return { input: '', resume: checkDecisions(record, read) };
  }
  const place = await placeOf(session, read);
  const open = openIds(record);
  // A new branch begins before the open calls.
  if (place.at !== undefined || open.length === 0) return place;
  const isNew = place.input !== '' && record.get(place.id ?? '') === undefined;
  if (!deniesOpen || !isNew || open.includes(ANSWER)) throw new UIDecisionMissingError(open);
  return { ...place, deniesOpen: WENT_ON };
}

function openIds({ pending }: SessionRecord): readonly string[] {
  return pending?.calls.map(({ id }) => id) ?? [];
}
