import type { Decision } from '../lifecycle/decision.js';
import type { Message, ToolCallPart } from '../model/message.js';
import type { Annotations, FinishReason, Usage } from '../model/model.js';
import { RunError } from '../model/run-error.js';
import type { StandardIssue } from '../tools/standard-schema.js';

/** The result of a run. Plain data: its JSON can go to another process. Look at `status` before `output` and `pending`. */
export type RunResult<Output = string> = CompletedRun<Output> | SuspendedRun;

/** The run has its answer. */
export interface CompletedRun<Output = string> extends RunRecord {
  readonly status: 'completed';
  /** The checked value when the run had an `output` schema, otherwise the text. */
  readonly output: Output;
  /** Empty: nothing waits for a decision. */
  readonly pending: readonly [];
}

/** Calls wait for a decision: go on with `history` as `messages`, and `resume`. */
export interface SuspendedRun extends RunRecord {
  readonly status: 'suspended';
  /** The open calls of the last turn, in call order. */
  readonly pending: readonly PendingCall[];
  readonly output?: undefined;
}

/** The record of a run, however it ended. */
export interface RunRecord {
  /** The answer as `afterAgent` left it; for a suspended run, the text that stands beside the open calls. */
  readonly text: string;
  /** The messages that this run added, the user's first. */
  readonly messages: readonly Message[];
  /** The working list at the end, without the instructions: a next run goes on from it. */
  readonly history: readonly Message[];
  /** Tokens of every model call of this run and of the agents that it used as tools. */
  readonly usage: Usage;
  /** Model calls, with repairs, without retries of a hook. */
  readonly turns: number;
  /** The reason of the last response; `other` when no model was asked. */
  readonly finishReason: FinishReason;
  /** Notes of parts about the last response. */
  readonly annotations?: Annotations | undefined;
  /** The decisions of the lifecycles, in order. */
  readonly decisions: readonly Decision[];
}

/** A call that waits for a decision. */
export interface PendingCall extends ToolCallPart {
  readonly reason: string;
  /** The part that left it open. */
  readonly by: string;
}

/** The run took more time than `timeouts.runMs`. */
export class RunTimeoutError extends RunError {
  readonly code = 'ERR_RUN_TIMEOUT';
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`The run took longer than ${timeoutMs} ms (\`timeouts.runMs\`).`);
    this.timeoutMs = timeoutMs;
  }
}

/** The model still called tools when `maxTurns` was reached. The error's `history` is whole: a new run can go on from it. */
export class TurnLimitError extends RunError {
  readonly code = 'ERR_TURN_LIMIT';
  readonly maxTurns: number;

  constructor(maxTurns: number) {
    super(
      `The run took ${maxTurns} turns without a final answer. Raise \`maxTurns\`, or set \`maxTurns.atLimit\` to 'answer'.`,
    );
    this.maxTurns = maxTurns;
  }
}

/** The answer does not match the `output` schema, also after one repair. */
export class OutputInvalidError extends RunError {
  readonly code = 'ERR_OUTPUT_INVALID';
  /** The answer as the model gave it. */
  readonly text: string;
  readonly issues: readonly StandardIssue[];

  constructor(text: string, issues: readonly StandardIssue[], described: string) {
    super(`The answer does not match the output schema: ${described}`);
    this.text = text;
    this.issues = issues;
  }
}
