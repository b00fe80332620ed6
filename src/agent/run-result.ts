import type { Decision } from '../lifecycle/decision.js';
import type { Message, ToolCallPart } from '../model/message.js';
import type { Annotations, FinishReason, Usage } from '../model/model.js';
import { RunError } from '../model/run-error.js';
import type { StandardIssue } from '../tools/standard-schema.js';

/** What a run gave. Plain data: its JSON can go to another process. */
export interface RunResult<Output = string> {
  /** `suspended`: calls wait for a decision; go on with `history` as `messages`, and `resume`. */
  readonly status: 'completed' | 'suspended';
  /** The answer as `afterAgent` left it. */
  readonly text: string;
  /** The checked value where the run had an `output` schema, else the text. A suspended run with a schema has none yet. */
  readonly output: Output;
  /** The messages that this run added, the user's first. */
  readonly messages: readonly Message[];
  /** The working list at the end, without the instructions: what a next run goes on from. */
  readonly history: readonly Message[];
  /** The calls that were left open, in call order; those of one turn. */
  readonly pending: readonly PendingCall[];
  /** Tokens of every model call of this run and of the agents that it used as tools. */
  readonly usage: Usage;
  /** Model calls, with repairs, without retries of a hook. */
  readonly turns: number;
  /** Of the last response; `other` where no model was asked. */
  readonly finishReason: FinishReason;
  /** What parts noted about the last response. */
  readonly annotations?: Annotations | undefined;
  /** What the lifecycles did, in order. */
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
