import { describeError } from '../../../errors.js';
import { ModelError, type ModelFailureHints } from '../../../model/run-error.js';
import type { Run } from '../run.js';
import { announceTurnEnd } from '../run-events.js';

/**
 * Ends the turn if the service refused the tool call that its model had written, and tells the model the reason. Returns
 * true if the next turn may follow. Only the first such failure of a run has a next turn.
 */
export function asksAgain(run: Run, error: unknown): boolean {
  const { kind } = (error ?? {}) as ModelFailureHints;
  const { end, conversation, config } = run;
  const isFinal =
    run.refused || run.turn >= config.maxTurns || end.verdict !== undefined || end.abortError !== undefined;
  if (kind !== 'tool-format' || !run.asking || isFinal) return false;
  run.refused = true;
  run.asking = false;
  run.step?.close();
  run.shown = undefined;
  if (run.listeners.active) announceTurnEnd(run);
  conversation.flush();
  const content = `The tool call was refused: ${describeError(error instanceof ModelError ? error.cause : error)}\nCall the tool again, in the right format.`;
  conversation.push({ role: 'user', content });
  return true;
}
