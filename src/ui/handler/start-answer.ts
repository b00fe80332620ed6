import type { Agent } from '../../agent/agent.js';
import type { RunStream } from '../../agent/run-stream.js';
import type { AgentSession } from '../../agent/session/session.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import type { Awaitable } from '../../internal/promise.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import type { RunLog } from '../../state/run-log/run-log.js';
import { UICallUnknownError, UIDecisionMissingError } from '../error.js';
import { openAnswerIn } from '../history/shown.js';
import { showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';
import type { ChatSession } from './handler-options.js';
import { type Place, placeOf } from './place.js';

/** A request that was read, with everything that its run needs. */
export interface AnswerRequest {
  readonly read: UIRequest;
  readonly session: ChatSession;
  readonly signal: AbortSignal;
  readonly context: unknown;
  readonly runLog: RunLog | undefined;
  /** Throws a UIRequestError if the request contradicts the record of the session. */
  check(session: StoredSession): Awaitable<void>;
}

/** A run that answers a request. */
export interface StartedAnswer {
  readonly stream: RunStream<unknown>;
  readonly session: AgentSession;
  /** The id of the answer that the run continues. Undefined for a new answer. */
  readonly messageId: string | undefined;
  /** Resolves when the run has ended and the session is closed. Never rejects. */
  readonly closed: Promise<void>;
}

/** Opens the session, compares the request with the record, and starts the run. */
export async function startAnswer(agent: Agent<never>, request: AnswerRequest): Promise<StartedAnswer> {
  const session = await openSession(agent, request.session, request.runLog);
  const close = () => session.close().catch(() => {});
  try {
    const { stored } = session;
    const { record } = stored;
    const { signal, context, read } = request;
    // A new message needs only what the model reads.
    if (read.type !== 'message') await stored.loadAll();
    await request.check(stored);
    const { input, id, at, resume } = await prepare(stored, read);
    const isContinued = resume !== undefined || (id !== undefined && at === undefined && record.get(id) !== undefined);
    const messageId = isContinued ? openAnswerIn(record) : undefined;
    const stream = session.stream<unknown>(input, { signal, context: context as never, id, at, resume });
    const closed = stream.result.then(close, close);
    return { stream, session, messageId, closed };
  } catch (error) {
    await close();
    throw error;
  }
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

interface Prepared extends Place {
  readonly resume?: Readonly<Record<string, UIDecision>> | undefined;
}

async function prepare(session: StoredSession, read: UIRequest): Promise<Prepared> {
  const { record } = session;
  if (read.type === 'decisions') {
    checkDecisions(openIds(record), read.decisions);
    return { input: '', resume: read.decisions };
  }
  const place = await placeOf(session, read);
  const open = openIds(record);
  // A new branch begins before the open calls.
  if (place.at === undefined && open.length > 0) throw new UIDecisionMissingError(open);
  return place;
}

function checkDecisions(open: readonly string[], decisions: Readonly<Record<string, UIDecision>>): void {
  const unknown = Object.keys(decisions).find((id) => !open.includes(id));
  if (unknown !== undefined) {
    throw new UICallUnknownError(
      `${showValue(unknown)} must be the id of a tool call or an answer that waits for a decision. Load the history again.`,
    );
  }
  const missing = open.filter((id) => !Object.hasOwn(decisions, id));
  if (missing.length > 0) throw new UIDecisionMissingError(missing);
}

function openIds({ pending }: SessionRecord): readonly string[] {
  return pending?.calls.map(({ id }) => id) ?? [];
}
