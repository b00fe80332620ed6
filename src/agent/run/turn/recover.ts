import { describeError } from '../../../errors.js';
import type { ModelResponse } from '../../../model/model.js';
import { ModelError, ResponseInvalidError } from '../../../model/run-error.js';
import type { Run } from '../run.js';
import { STEERED } from '../run-posts.js';
import { turnLimitOf } from '../turn-limit.js';
import { failureOf } from './model-call.js';

/**
 * Handles a failed model call. After an empty answer or a malformed tool call, adds a message, so that the next turn
 * asks the model again. This happens once in a run.
 *
 * A second empty answer is returned if it follows tool results and the run has no output schema. Otherwise throws the
 * error that ends the run.
 *
 * `shown` is the text that the call has streamed.
 */
export function recoverFrom(run: Run, thrown: unknown, shown: string): ModelResponse | undefined {
  if (thrown === STEERED) return breakOff(run, shown);
  const error = failureOf(run, run.config.model.id, thrown);
  if (!(error instanceof ModelError)) throw error;
  const { kind } = error;
  if (kind !== 'empty' && kind !== 'tool-format') throw error;
  const hasTurnLeft = run.end.verdict === undefined && run.context.turn < turnLimitOf(run);
  if (run.askedAgain || !hasTurnLeft) return emptyAnswer(run, error);
  run.askedAgain = true;
  run.conversation.addQueued();
  const content =
    kind === 'empty'
      ? 'Your answer was empty. Give your answer now.'
      : `The tool call was refused: ${describeError(error.cause)}\nCall the tool again, in the right format.`;
  run.conversation.push({ role: 'user', content });
  return undefined;
}

/** Abandons a model call because of an urgent message, and keeps the text that the call has shown. */
function breakOff({ attached, conversation, end }: Run, text: string): undefined {
  end.throwIfAborted();
  if (attached.recorder !== undefined) attached.recorder.posts.steers += 1;
  // Some providers refuse a message that has only white space.
  if (text.trim() !== '') conversation.say({ role: 'assistant', content: [{ type: 'text', text }], stopped: true });
}

/** Accepts an empty answer after tool results, because some models add nothing to them. */
function emptyAnswer({ conversation, config }: Run, error: ModelError): ModelResponse {
  const { kind, cause, model } = error;
  const hasRun = conversation.added.some(({ role }) => role === 'tool');
  const isAccepted = kind === 'empty' && hasRun && config.output === undefined;
  if (!isAccepted || !(cause instanceof ResponseInvalidError)) throw error;
  config.logger.warn(`Model "${model}" gave an empty answer twice, so the run has no text.`);
  return cause.response as ModelResponse;
}
