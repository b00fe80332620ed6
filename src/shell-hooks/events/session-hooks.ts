import { safeText } from '../../internal/safe-text.js';
import type { SessionInfo } from '../../tools/tool.js';
import { HookCancelledError } from '../error.js';
import type { HookParts } from './parts.js';

/** Runs the `session_start` hooks. Rejects with a `HookCancelledError` if a hook cancels; the session is not opened. */
export async function startSession(session: SessionInfo, { runner, notes, signal }: HookParts): Promise<void> {
  const source = session.messages.length === 0 ? 'startup' : 'resume';
  const outcome = await runner.runEvent({
    event: 'session_start',
    sessionId: session.id,
    transcript: () => session.messages,
    value: undefined,
    describe: () => ({ data: { session_id: session.id }, flat: { source } }),
    source,
    signal,
  });
  notes.keep(session.id, outcome.modelTexts);
  const { cancelledBy, reason } = outcome;
  if (cancelledBy === undefined) return;
  throw new HookCancelledError(cancelledBy, 'session_start', safeText(reason ?? ''));
}

/**
 * Runs the `session_end` hooks. A cancellation has no effect. Messages of hooks are logged, because no model request
 * follows.
 */
export async function endSession(session: SessionInfo, { runner, logger }: HookParts): Promise<void> {
  const outcome = await runner.runEvent({
    event: 'session_end',
    sessionId: session.id,
    transcript: () => session.messages,
    value: undefined,
    describe: () => ({ data: { session_id: session.id, messages: session.messages }, flat: { reason: 'other' } }),
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
