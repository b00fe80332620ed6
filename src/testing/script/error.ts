import { KeelsonError } from '../../errors.js';
import type { Message } from '../../model/message.js';
import { describeMessages } from './describe-messages.js';

/** A scripted model was called more often than its script has steps. Never worth a retry. */
export class ScriptExhaustedError extends KeelsonError {
  readonly code = 'ERR_SCRIPT_EXHAUSTED';
  readonly retryable = false;
  /** Which call it was, from 1. */
  readonly call: number;
  /** What the model was shown. */
  readonly messages: readonly Message[];

  constructor(call: number, steps: number, messages: readonly Message[]) {
    super(
      `The script has ${steps} ${steps === 1 ? 'step' : 'steps'}, and this is call ${call}. ` +
        `It was shown ${describeMessages(messages)}. Add a step, or find out why the run went on.`,
    );
    this.call = call;
    this.messages = messages;
  }
}

/** A test is over, and steps of a script were never played. */
export class ScriptUnfinishedError extends KeelsonError {
  readonly code = 'ERR_SCRIPT_UNFINISHED';
  /** The steps that were not used, such as `2. says("done")`. */
  readonly steps: readonly string[];

  constructor(steps: readonly string[], total: number) {
    super(`${steps.length} of ${total} scripted steps were not used: ${steps.join(', ')}. The run ended before them.`);
    this.steps = steps;
  }
}

/** The failure that `fails()` and `faultyTool()` inject where the test names none of its own. */
export class ScriptedFailureError extends KeelsonError {
  readonly code = 'ERR_SCRIPTED_FAILURE';

  constructor(message = 'failed as scripted') {
    super(message);
  }
}
