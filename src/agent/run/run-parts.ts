import type { Decision } from '../../lifecycle/decision.js';
import type { HookTurn } from '../../lifecycle/hook-run/hook-run.js';
import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { UsageSum } from '../../model/usage.js';
import type { Entry } from '../../state/record/entry.js';
import type { RejectAction, RespondAction } from '../../tools/tool.js';
import type { ToolSnapshot } from '../../tools/tool-catalog.js';
import type { TurnEvents } from './turn/turn-events.js';

/** The current turn, as far as the rest of the run needs it. */
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
  /** Counts a stored response whose text an earlier process has already shown. */
  skipShown(response: ModelResponse): void;
}

/** Implemented by a durable engine, which stores the effects of each step on the run. */
export interface RunEffects {
  /** Returns the usage counter of the code that is running: the counter of its step, or `total` outside steps. */
  usageOver(total: UsageSum): UsageSum;
  /** Records a decision. Returns false if the decision belongs to the running step and not to the run. */
  decided(decision: Decision): boolean;
  added(message: Message): void;
  /**
   * Called before a run ends, with the error of a failed run. If the engine has stored further steps of the run, aborts
   * the run and rejects. Then another version of the program has to continue the run.
   */
  checkEnd(error?: unknown): Promise<unknown> | undefined;
  /** True inside a step. The calls of a step cannot wait for a decision. */
  readonly isInStep: boolean;
  /** True once another attempt continues the run. */
  readonly hasEnded: boolean;
  /** True if the run saves only at its end. Otherwise it also saves before its `afterAgent` hooks. */
  readonly savesOnce: boolean;
  ended(action: RejectAction | RespondAction): void;
}

/** The claim of a run on the conversation of its session. */
export interface RunClaim {
  /** Resolves when the claim is confirmed. Returns undefined if the claim is still valid. */
  ready(): Promise<void> | undefined;
  /** Tells other runs which question this run waits for. Pass undefined when the question is answered. */
  waitFor(question: string | undefined): void;
  /** Called with each entry that the run adds. */
  onEntry: ((entry: Entry) => void) | undefined;
  /** Resolves when the appends in progress have ended. */
  flush(): Promise<void>;
}

/** The place of a nested run in the record of the session. */
export interface NestedPlace {
  readonly runId: string;
  readonly agent: string;
  readonly path: readonly string[];
  /** The messages of the earlier run that a nested run continues. */
  readonly messages: readonly Message[] | undefined;
  /** True if the tool call can wait for the decisions of the nested run. */
  readonly canWait: boolean;
}
