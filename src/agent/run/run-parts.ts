import type { Decision } from '../../lifecycle/decision.js';
import type { HookTurn } from '../../lifecycle/hook-run/hook-run.js';
import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { UsageSum } from '../../model/usage.js';
import type { Entry } from '../../state/record/entry.js';
import type { RejectAction, RespondAction } from '../../tools/tool.js';
import type { ToolSnapshot } from '../../tools/tool-catalog.js';
import type { TurnEvents } from './turn/turn-events.js';

/** The members of the current turn that other code of the run uses. */
export interface CurrentTurn extends HookTurn {
  /** Counts from 1. A resumed run executes its open calls in turn 0. */
  readonly number: number;
  /** The tools of the turn. Undefined before they are selected. */
  tools: ToolSnapshot | undefined;
  /** The events of the turn; undefined without a listener. */
  readonly events: TurnEvents | undefined;
  /** The number of model calls in this turn, retries by hooks included. */
  readonly attempt: number;
  /** Counts a model call. Returns its number. */
  nextAttempt(): number;
  /**
   * Counts a model call whose stored response a replay returns. Its text is not emitted again, because an earlier
   * process has emitted it.
   */
  skipShown(response: ModelResponse): void;
}

/**
 * Keeps the effects of each step of a durable run, such as its usage and decisions. Implemented by the durable engine.
 */
export interface RunEffects {
  /** Returns the usage counter of the code that is running: the counter of its step, or `total` outside steps. */
  usageOver(total: UsageSum): UsageSum;
  /**
   * Called with each decision. Returns false for a decision that is not part of the run, such as the use of a stored
   * result.
   */
  decided(decision: Decision): boolean;
  added(message: Message): void;
  /**
   * Called before a run ends, with the error of a failed run. Finds a replay that ends before its last stored step,
   * because the program has changed.
   *
   * Then aborts the run and rejects, so that the version of the program that stored the steps can continue it.
   */
  checkEnd(error?: unknown): Promise<unknown> | undefined;
  /** True inside a step of the engine. The tool calls of a step cannot wait for a decision. */
  readonly isInStep: boolean;
  /** True once another attempt has taken over the run. */
  readonly hasEnded: boolean;
  /** True if the run saves only at its end. Otherwise it also saves before its `afterAgent` hooks. */
  readonly savesOnce: boolean;
  ended(action: RejectAction | RespondAction): void;
}

/** The exclusive right of a run to add to the conversation of its session. */
export interface RunClaim {
  /**
   * Resolves when the store confirms that the run still has the claim. Returns undefined if the claim has not expired.
   */
  ready(): Promise<void> | undefined;
  /**
   * Stores the question that this run asks a person, so that the error of a waiting run can name it. Pass undefined
   * after the answer.
   */
  waitFor(question: string | undefined): void;
  /** Called with each entry that the run adds. */
  onEntry: ((entry: Entry) => void) | undefined;
  /** Resolves when all added entries are stored. */
  flush(): Promise<void>;
}

/** The id and path of a nested run, for its entries in the session of the enclosing run. */
export interface NestedPlace {
  readonly runId: string;
  readonly agent: string;
  readonly path: readonly string[];
  /** The messages of the suspended run that a nested run continues. */
  readonly messages: readonly Message[] | undefined;
  /** True if the tool call can wait for the decisions of the nested run. */
  readonly canWait: boolean;
}
