import type { Agent } from '../../agent/agent.js';
import type { AgentSession } from '../../agent/session/agent-session.js';
import { endOfRun } from '../../agent/session/log/follow-run.js';
import type { SentMessage } from '../../agent/session/sent-message.js';
import { SessionBusyError } from '../../agent/session/session-error.js';
import { AgentClosedError } from '../../errors.js';
import { logFailure } from '../../internal/logger.js';
import { createDeferred } from '../../internal/promise.js';
import type { SendBody } from '../sse/from-sse-body.js';
import type { ChatSession, HandlerConfig } from './handler-options.js';
import { type AnswerRequest, openSession, type StartedAnswer, startAnswer, withSession } from './start-answer.js';

/** A person who sends something to a chat, with the session of the chat and the input for a run. */
export interface Sender extends Pick<AnswerRequest, 'session' | 'context' | 'tools'> {
  readonly chatId: string;
  readonly identity: unknown;
  readonly decides: boolean;
}

/** Starts and stops the runs of the chats of a handler. Also starts runs for messages that no run has answered. */
export class ChatRuns {
  /**
   * Functions that stop the runs of this process, by session id. Includes runs that still wait for an earlier run of
   * their session.
   */
  private readonly stops = new Map<string, Set<() => void>>();

  constructor(
    private readonly agent: Agent<never>,
    private readonly config: HandlerConfig,
  ) {}

  /**
   * Starts the run that answers a request, or follows the run that already does. With `onDisconnect: 'abort'`, stops
   * the run when the client disconnects, which aborts `left`.
   */
  async start(
    sender: Sender,
    { read, check }: Pick<AnswerRequest, 'read' | 'check'>,
    left?: AbortSignal,
  ): Promise<StartedAnswer> {
    const { runLog, queueMs, onDisconnect, orphanMs, whileAsking } = this.config;
    const aborts = onDisconnect === 'abort';
    const run = new AbortController();
    const forget = this.remember(idOf(sender.session), run);
    const disconnect = () => aborts && run.abort('the client disconnected');
    left?.addEventListener('abort', disconnect);
    if (left?.aborted) disconnect();
    const leave = () => {
      left?.removeEventListener('abort', disconnect);
      forget();
    };
    try {
      const started = await startAnswer(this.agent, {
        ...{ read, check, queueMs, runLog },
        ...{ session: sender.session, context: sender.context, tools: sender.tools, signal: run.signal },
        whileAsking: whileAsking === 'deny' && !sender.decides ? 'keep' : whileAsking,
        orphanMs: aborts ? undefined : orphanMs,
      });
      void started.done.then(leave);
      if (!aborts) this.config.waitUntil?.(started.idle);
      if (started.sent !== undefined) this.lookAfter(sender, started.sent);
      return started;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Stops the active run of a chat, which may run in another process. Resolves with true if a run was stopped. */
  async stop(chat: ChatSession): Promise<boolean> {
    // Stops only the first run, because the others wait for it.
    const [stop] = this.stops.get(idOf(chat)) ?? [];
    stop?.();
    return withSession(
      openSession(this.agent, chat, undefined),
      async (session) =>
        (await session.stop()) || (stop !== undefined && (await session.stored.running()) === undefined),
    );
  }

  /**
   * Sends a message to the active run, without waiting for the answer. If no run answers it, starts one, except with
   * `onDisconnect: 'abort'`.
   */
  async send(sender: Sender, { message, messageId: id, when }: SendBody): Promise<SentMessage> {
    return withSession(openSession(this.agent, sender.session, undefined), async (session) => {
      const sent = await session.send(message, { id, when });
      this.lookAfter(sender, sent);
      return sent;
    });
  }

  /** Registers a run, so that another request can stop it. Returns a function that removes the run. */
  private remember(session: string, run: AbortController): () => void {
    const { promise, resolve } = createDeferred<void>();
    // Cloudflare Workers do not let one request abort another. Code behind a promise runs in the request that awaits it.
    void promise.then(() => run.abort('the answer was stopped'));
    const stops = this.stops.get(session) ?? new Set();
    this.stops.set(session, stops.add(resolve));
    return () => {
      stops.delete(resolve);
      if (stops.size === 0) this.stops.delete(session);
    };
  }

  /**
   * Waits in the background for the active run to end. If the message is still unanswered, calls `onPost` or starts a
   * run that answers it.
   */
  private lookAfter(sender: Sender, { id }: SentMessage): void {
    // With `abort`, no run may begin without its client.
    if (this.config.onDisconnect === 'abort') return;
    const opening = openSession(this.agent, sender.session, this.config.runLog);
    const answered = withSession(opening, (session) => this.answer(sender, id, session)).catch((error) => {
      if (error instanceof AgentClosedError) return;
      logFailure(this.config, `The message "${id}" waits for the next run, since it could not be answered.`, error);
    });
    this.config.waitUntil?.(answered);
  }

  private async answer(sender: Sender, id: string, session: AgentSession): Promise<void> {
    for (;;) {
      if (await endsStopped(session)) return;
      await session.stored.load();
      const { posts, pending } = session.stored.record;
      const waiting = posts.waiting.find((one) => one.id === id);
      if (waiting === undefined) return;
      // The decision lets the conversation continue.
      if (pending !== undefined && !(sender.decides && this.config.whileAsking === 'deny')) return;
      const { chatId, identity } = sender;
      if (this.config.onPost !== undefined) {
        return this.config.onPost({ chatId, sessionId: session.id, messageId: id, identity: identity as never });
      }
      const read = { type: 'message', chatId, id, message: waiting.message } as const;
      try {
        const { stream } = await this.start(sender, { read, check: () => {} });
        // The run has no reader yet, so close its stream.
        await stream?.[Symbol.asyncIterator]().return?.();
        return;
      } catch (error) {
        if (!(error instanceof SessionBusyError)) throw error;
      }
    }
  }
}

/** Waits for the end of the active run, if there is one. Resolves with true if it was stopped. */
async function endsStopped(session: AgentSession): Promise<boolean> {
  const { runLog } = session.stored.options;
  const run = await session.stored.running();
  if (runLog === undefined || run === undefined) return false;
  const { stop } = session.host.life;
  return (await endOfRun(session.stored, { log: runLog, runId: run, stop })) === 'stopped';
}

function idOf(session: ChatSession): string {
  return typeof session === 'string' ? session : session.id;
}
