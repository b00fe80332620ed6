import { hideMembers } from '../errors.js';
import { counted } from '../internal/names-text.js';
import type { Decision } from '../lifecycle/decision.js';
import type { Message, ToolCallPart } from '../model/message.js';
import type { Annotations, FinishReason, Usage } from '../model/model.js';
import { RunError } from '../model/run-error.js';
import type { StandardIssue } from '../tools/standard-schema.js';

/** The result of a run, as plain data. Check `status` before you read `output` or `pending`. */
export type RunResult<Output = string> = CompletedRun<Output> | SuspendedRun;

/** The result of a run with an answer. */
export interface CompletedRun<Output = string> extends RunRecord {
  readonly status: 'completed';
  /** The checked value if the run had an `output` schema, otherwise `text`. */
  readonly output: Output;
  /** Always empty for a completed run. */
  readonly pending: readonly [];
}

/**
 * The result of a run whose tool calls, or whose answer, wait for decisions. To continue, start a run with the options
 * `messages: history` and `resume`.
 */
export interface SuspendedRun extends RunRecord {
  readonly status: 'suspended';
  /**
   * The open tool calls of the last turn in call order, or the answer that a hook suspended in `afterModel`.
   *
   * If a call waits because its nested run is suspended, the waiting calls of the nested run are listed instead of the
   * call.
   */
  readonly pending: readonly (PendingCall | PendingAnswer)[];
  readonly output?: undefined;
}

/** The members that completed and suspended results have in common. */
interface RunRecord {
  /** The answer after `afterAgent`. For a suspended run, the text that the model wrote with the open tool calls. */
  readonly text: string;
  /** The messages that this run added, starting with the user message. */
  readonly messages: readonly Message[];
  /**
   * The messages that the model reads at the end of the run, without the instructions. Pass them to the next run as
   * `messages`.
   */
  readonly history: readonly Message[];
  /** The tokens of every model call of this run and of its nested runs. */
  readonly usage: Usage;
  /** The number of model calls, including repairs of the output. Retries by hooks do not count. */
  readonly turns: number;
  /** The finish reason of the last response; `other` if no model was called. */
  readonly finishReason: FinishReason;
  /** The annotations of the last response. */
  readonly annotations?: Annotations | undefined;
  /** The decisions of the lifecycles, in the order in which they were made. */
  readonly decisions: readonly Decision[];
  /** The nested runs that have ended, in the order of their ends. Undefined without nested runs. */
  readonly nested?: readonly NestedRun[] | undefined;
}

/** A nested run, in the result or the error of the enclosing run. Plain data. */
export interface NestedRun extends Pick<RunRecord, 'messages' | 'usage' | 'decisions' | 'nested'> {
  readonly runId: string;
  readonly agent: string;
  /** The ids of the enclosing tool calls, outermost first. The last id is a call of the enclosing run. */
  readonly path: readonly string[];
  /** The turn of the enclosing run that made the call. */
  readonly turn: number;
  readonly status: 'completed' | 'suspended' | 'failed';
  readonly pending: SuspendedRun['pending'];
  /** The error of a failed run. */
  readonly error?: { readonly name: string; readonly message: string } | undefined;
}

/** A tool call that waits for a decision, or for its result. */
export interface PendingCall extends Omit<ToolCallPart, 'inside'> {
  /** The id of the call. For a call of a nested run, the ids of `path` and the call's own id, joined by `/`. */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Undefined for a call of the run itself. */
  readonly path?: readonly string[] | undefined;
  /** The name of the agent that made the call. Undefined for a call of the run itself. */
  readonly agent?: string | undefined;
  readonly reason: string;
  /** The name of the lifecycle that suspended the call. For a tool without `execute`, the name of the tool. */
  readonly by: string;
  /** Set if the tool has no `execute`: the call waits until `resume` has its `{ result }`, or denies it. */
  readonly needs?: 'result' | undefined;
}

/**
 * An answer without tool calls that waits for a decision. If `resume` approves it, it becomes the answer of the run. If
 * `resume` denies it, the model answers again.
 */
export interface PendingAnswer {
  readonly type: 'answer';
  /** The key for `resume`: `answer`. For the answer of a nested run, the ids of `path` and `answer`, joined by `/`. */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Undefined for the run itself. */
  readonly path?: readonly string[] | undefined;
  /** The name of the agent that gave the answer. Undefined for the run itself. */
  readonly agent?: string | undefined;
  readonly text: string;
  readonly reason: string;
  /** The name of the lifecycle that suspended the answer. */
  readonly by: string;
  /** Never set. It distinguishes an answer from a tool call, which has a name. */
  readonly name?: undefined;
  readonly input?: undefined;
}

/** The run exceeded `timeouts.runMs`. */
export class RunTimeoutError extends RunError {
  readonly code = 'ERR_RUN_TIMEOUT';

  constructor(readonly timeoutMs: number) {
    super(`The run took longer than ${timeoutMs} ms (\`timeouts.runMs\`).`);
  }
}

/** The model still called tools when `maxTurns` was reached. A new run can continue from the error's `history`. */
export class TurnLimitError extends RunError {
  readonly code = 'ERR_TURN_LIMIT';

  constructor(readonly maxTurns: number) {
    super(
      `The run took ${counted(maxTurns, 'turn')} without a final answer. Raise \`maxTurns\`, or set \`maxTurns.atLimit\` to 'answer'.`,
    );
  }
}

/** An answer that does not match the `output` schema. */
export interface InvalidOutput {
  /** The unparsed answer. */
  readonly text: string;
  readonly issues: readonly StandardIssue[];
  /** The reason why the model stopped. Undefined if a hook gave the answer. */
  readonly finishReason?: FinishReason | undefined;
}

/**
 * The answer does not match the `output` schema, even after one repair. An answer that was cut off (`finishReason` is
 * `length`) or refused (`content-filter`) is not repaired.
 */
export class OutputInvalidError extends RunError implements InvalidOutput {
  readonly code = 'ERR_OUTPUT_INVALID';
  /** The unparsed answer of the model. Not enumerable, so logs do not show it. */
  readonly text: string;
  /** The problems with the answer. Not enumerable, because some schema libraries quote the answer in their messages. */
  readonly issues: readonly StandardIssue[];
  /** The reason why the model stopped. Undefined if a hook gave the answer. */
  readonly finishReason: FinishReason | undefined;

  constructor(message: string, { text, issues, finishReason }: InvalidOutput) {
    super(message);
    this.text = text;
    this.issues = issues;
    this.finishReason = finishReason;
    hideMembers(this, 'text', 'issues');
  }
}

/** Data about a failed run that its error does not contain. */
export type FailureRecord = Pick<RunRecord, 'decisions' | 'nested'>;

const NOTHING: FailureRecord = { decisions: [] };

/**
 * Maps each error to the record of its run. RunError has no such members, because the model layer must not import
 * decisions.
 */
const records = new WeakMap<object, FailureRecord>();

/** Stores the record of a failed run, so that `formatRun` can show it. */
export function recordFailure(error: unknown, record: FailureRecord): void {
  if (error instanceof Error) records.set(error, record);
}

/** Returns the record of a failed run. */
export function failureRecordOf(error: Error): FailureRecord {
  return records.get(error) ?? NOTHING;
}
