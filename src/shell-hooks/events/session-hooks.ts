import { MAX_TIMER_MS } from '../../internal/clock.js';
import { safeText } from '../../internal/safe-text.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { HookEvent } from '../../programs/hook-event.js';
import type { SessionInfo } from '../../tools/tool.js';
import { HookCancelledError } from '../hook/error.js';
import { type HookParts, NOTICES } from './run-state.js';

/**
 * Creates the lifecycle for `session_start` and `session_end`. It also makes `agent.close()` wait for hooks of
 * `NOTICES` that have started. Returns undefined without hooks of these events.
 */
export function createSessionHooks(
  events: ReadonlySet<HookEvent>,
  parts: HookParts,
  priority: number,
): AgentLifecycle | undefined {
  const [starts, ends] = [events.has('session_start'), events.has('session_end')];
  const notifies = [...NOTICES].some((event) => events.has(event));
  if (!starts && !ends && !notifies) return undefined;
  return {
    name: 'shell-hooks:session',
    priority,
    // No limit for the lifecycle hook, because each shell hook has its own time limit.
    timeoutMs: MAX_TIMER_MS,
    onSessionStart: starts ? (session) => startSession(session, parts) : undefined,
    onSessionEnd: ends ? (session) => endSession(session, parts) : undefined,
    onShutdown: notifies ? async () => void (await Promise.allSettled(parts.notices)) : undefined,
  };
}

/** Runs the `session_start` hooks. Rejects with a `HookCancelledError` if a hook cancels; the session is not opened. */
async function startSession(session: SessionInfo, { runner, pending, signal }: HookParts): Promise<void> {
  const source = session.messages.length === 0 ? 'startup' : 'resume';
  const outcome = await runner.runEvent({
    event: 'session_start',
    sessionId: session.id,
    transcript: () => ({ people: () => session.allMessages() }),
    value: undefined,
    describe: () => ({ data: { session_id: session.id } }),
    source,
    signal,
  });
  pending.keep(session.id, outcome.modelTexts);
  const { cancelledBy, reason } = outcome;
  if (cancelledBy === undefined) return;
  throw new HookCancelledError(cancelledBy, 'session_start', safeText(reason ?? ''));
}

/**
 * Runs the `session_end` hooks. A cancellation has no effect. Messages of hooks are logged, because no model request
 * follows.
 */
async function endSession(session: SessionInfo, { runner, logger }: HookParts): Promise<void> {
  const messages = await session.allMessages();
  const outcome = await runner.runEvent({
    event: 'session_end',
    sessionId: session.id,
    transcript: () => ({ people: () => session.allMessages() }),
    value: undefined,
    describe: () => ({ data: { session_id: session.id, messages } }),
    source: 'other',
  });
  const { cancelledBy: hookName, reason, modelTexts } = outcome;
  for (const { hook, text } of modelTexts) {
    logger.info(`Hook "${hook}" said at session_end: ${safeText(text)}`, { hookName: hook, text });
  }
  if (hookName === undefined) return;
  logger.warn(`Hook "${hookName}" cancelled session_end. This has no effect: the session ends anyway.`, {
    hookName,
    reason,
  });
}
