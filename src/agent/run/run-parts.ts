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
  /** The tools of the turn, once they are selected. */
  tools: ToolSnapshot | undefined;
  /** The events of the turn; undefined without a listener. */
  readonly events: TurnEvents | undefined;
  /** The number of model calls in this turn, retries by hooks included. */
  readonly attempt: number;
  /** Counts a model call. Returns its number. */
  nextAttempt(): number;
  /** Counts a stored response whose text another process has shown. */
  skipShown(response: ModelResponse): void;
}

/** Implemented by a durable engine, which stores what each of its steps changes in the run. */
export interface RunEffects {
  /** Returns the sum that counts the tokens of the code that is running. */
  usageOver(total: UsageSum): UsageSum;
  /** Returns false if the decision is not one of the run. */
  decided(decision: Decision): boolean;
  added(message: Message): void;
  /**
   * Called before a run ends, with the error of a failed one. Rejects, and aborts the run, if the engine has stored further
   * steps of the run: then another version of the program has to continue it.
   */
  checkEnd(error?: unknown): Promise<unknown> | undefined;
  /** True in a step, whose calls cannot wait for a decision. */
  readonly isInStep: boolean;
  /** True once another attempt continues the run. */
  readonly hasEnded: boolean;
  /** True if the run saves once at its end. Otherwise it also saves before the `afterAgent` hooks, if there are any. */
  readonly savesOnce: boolean;
  ended(action: RejectAction | RespondAction): void;
}

/** The claim of a run on the conversation of its session. */
export interface RunClaim {
  /** Resolves when the claim holds. Returns undefined if it is known to hold. */
  ready(): Promise<void> | undefined;
  /** Tells other runs which question this run waits for. Undefined once it has the answer. */
  waitFor(question: string | undefined): void;
  /** Called with each entry that the run adds. */
  onEntry: ((entry: Entry) => void) | undefined;
  /** Resolves when the appends that are on their way have ended. */
  flush(): Promise<void>;
}

/** The place of a nested run in the record. */
export interface NestedPlace {
  readonly runId: string;
  readonly agent: string;
  readonly path: readonly string[];
  /** The messages of an earlier run that the run continues with. */
  readonly messages: readonly Message[] | undefined;
  /** True if the call waits for what the run waits for. */
  readonly canWait: boolean;
}
