import { KeelsonError } from '../../errors.js';
import type { Message } from '../../model/message.js';
import { describeMessages } from './describe-messages.js';

/** Thrown if a scripted model is called more often than its script has steps. Never retryable. */
export class ScriptExhaustedError extends KeelsonError {
  readonly code = 'ERR_SCRIPT_EXHAUSTED';
  readonly retryable = false;
  /** The number of the call, counted from 1. */
  readonly call: number;
  /** The messages of the request. */
  readonly messages: readonly Message[];

  constructor(call: number, steps: number, messages: readonly Message[]) {
    super(
      `The script has ${steps} ${steps === 1 ? 'step' : 'steps'}, but call ${call} was made. ` +
        `The request had ${describeMessages(messages)}. Add a step, or check why the run continued.`,
    );
    this.call = call;
    this.messages = messages;
  }
}

/** Thrown by `assertDone` if steps of the script were not used. */
export class ScriptUnfinishedError extends KeelsonError {
  readonly code = 'ERR_SCRIPT_UNFINISHED';
  /** The unused steps, such as `2. says("done")`. */
  readonly steps: readonly string[];

  constructor(steps: readonly string[], total: number) {
    super(
      `${steps.length} of ${total} scripted steps were not used: ${steps.join(', ')}. Remove them, or check why the run ended early.`,
    );
    this.steps = steps;
  }
}

/** The default error of `fails()` and `faultyTool()`. */
export class ScriptedFailureError extends KeelsonError {
  readonly code = 'ERR_SCRIPTED_FAILURE';

  constructor(message = 'failed as scripted') {
    super(message);
  }
}
