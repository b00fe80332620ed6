import type { Agent } from '../../agent/agent.js';
import type { RunStream } from '../../agent/run-stream.js';
import type { AgentSession } from '../../agent/session.js';
import type { Message, UserMessage } from '../../model/message.js';
import { UICallUnknownError, UIDecisionMissingError } from '../error.js';
import { nextMessageId } from '../history/message-id.js';
import { pendingIn } from '../history/pending.js';
import { showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';
import type { ChatSession } from './handler-options.js';
import { answeredIndex, editedIndex, rewind } from './rewind.js';

/** A request that was read, with everything that its run needs. */
export interface AnswerRequest {
  readonly read: UIRequest;
  readonly session: ChatSession;
  readonly signal: AbortSignal;
  readonly context: unknown;
  /** Throws a UIRequestError if the request contradicts the stored messages. */
  check(history: readonly Message[]): void;
}

/** A run that answers a request. */
export interface StartedAnswer {
  readonly stream: RunStream<unknown>;
  readonly messageId: string;
  /** Resolves when the run has ended and the session is closed. Never rejects. */
  readonly closed: Promise<void>;
}

/** Opens the session, compares the request with the stored messages, and starts the run. */
export async function startAnswer(agent: Agent<never>, request: AnswerRequest): Promise<StartedAnswer> {
  const session = await openSession(agent, request.session);
  const close = () => session.close().catch(() => {});
  try {
    const { input, history, resume } = await prepare(session, request);
    const { signal, context, read } = request;
    const messageId = nextMessageId(history, read.chatId, input);
    const stream = session.stream<unknown>(input ?? '', { signal, context: context as never, resume });
    const closed = stream.result.then(close, close);
    return { stream, messageId, closed };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the session of a chat, and calls `onSessionStart`. */
export async function openSession(agent: Agent<never>, session: ChatSession): Promise<AgentSession> {
  const opened = await agent.session(typeof session === 'string' ? { id: session } : session);
  return opened as unknown as AgentSession;
}

interface Prepared {
  /** Undefined if the run continues from the stored messages. */
  readonly input: UserMessage | undefined;
  readonly history: readonly Message[];
  readonly resume?: Readonly<Record<string, UIDecision>>;
}

async function prepare(session: AgentSession, { read, check }: AnswerRequest): Promise<Prepared> {
  const history = session.messages;
  check(history);
  if (read.type === 'decisions') {
    checkDecisions(history, read.decisions);
    return { input: undefined, history, resume: read.decisions };
  }
  if (read.type === 'regenerate') {
    const index = answeredIndex(history, read);
    return index === undefined ? added(history, read.message) : cut(session, index + 1, undefined);
  }
  const index = read.editedAfter && editedIndex(history, read.editedAfter);
  return index === undefined ? added(history, read.message) : cut(session, index, read.message);
}

function added(history: readonly Message[], input: UserMessage): Prepared {
  const open = openIds(history);
  if (open.length > 0) throw new UIDecisionMissingError(open);
  return { input, history };
}

async function cut(session: AgentSession, keep: number, input: UserMessage | undefined): Promise<Prepared> {
  const history = session.messages.slice(0, keep);
  await rewind(session.store, session.id, keep);
  return { input, history };
}

function checkDecisions(history: readonly Message[], decisions: Readonly<Record<string, UIDecision>>): void {
  const open = openIds(history);
  const unknown = Object.keys(decisions).find((id) => !open.includes(id));
  if (unknown !== undefined) {
    throw new UICallUnknownError(
      `${showValue(unknown)} must be the id of a tool call or an answer that waits for a decision. Load the history again.`,
    );
  }
  const missing = open.filter((id) => !Object.hasOwn(decisions, id));
  if (missing.length > 0) throw new UIDecisionMissingError(missing);
}

function openIds(history: readonly Message[]): string[] {
  return pendingIn(history).map(({ id }) => id);
}
