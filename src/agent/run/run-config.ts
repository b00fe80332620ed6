import type { Clock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import type { Logger } from '../../internal/logger.js';
import type { Chain } from '../../lifecycle/chain.js';
import type { Model, ModelRequest, ModelResponse, ModelSettings, ToolChoice } from '../../model/model.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import type { ToolRun } from '../../tools/tool.js';
import type { ToolCatalog } from '../../tools/tool-catalog.js';
import type { AgentLife } from '../agent-life.js';
import type { AgentListeners } from '../listeners.js';

/** Time limits, in milliseconds. None by default. */
export interface Timeouts {
  /** For a whole run. Ends it with a RunTimeoutError. */
  readonly runMs?: number | undefined;
  /** For each model call. Ends it with a ModelError that may be retried. */
  readonly modelMs?: number | undefined;
  /** Until a model call gives its first part; its response, where it does not stream. */
  readonly firstPartMs?: number | undefined;
  /** For each tool call that has no limit of its own. Ends it with an error result. */
  readonly toolMs?: number | undefined;
}

/** How the model is called: its settings, and which tools it may choose. */
export interface AgentSettings extends ModelSettings {
  /** For every model call of the run. A `required` choice never ends by itself: prefer a `wrapModelCall` for one turn. */
  readonly toolChoice?: ToolChoice | undefined;
}

/** How many turns a run may take, and what happens then. */
export interface TurnLimit {
  readonly limit: number;
  /** `throw` (default): TurnLimitError. `answer`: one more model call without tools gives the answer. */
  readonly atLimit?: 'throw' | 'answer' | undefined;
}

/** All that a run is made with, resolved. One object serves every run that changes nothing. */
export interface RunConfig {
  readonly agent: string;
  readonly model: Model;
  readonly instructions: string | undefined;
  readonly chain: Chain;
  readonly catalog: ToolCatalog;
  readonly maxTurns: number;
  readonly atLimit: 'throw' | 'answer';
  /** How many calls of a turn may run at once. */
  readonly parallelToolCalls: number;
  readonly settings: ModelSettings | undefined;
  readonly toolChoice: ToolChoice | undefined;
  readonly timeouts: Timeouts;
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly hub: AgentListeners;
  readonly output: OutputCheck | undefined;
  /** Whether no hook stands around the model call, and nothing limits its time. */
  readonly isPlain: boolean;
  readonly life: AgentLife;
}

/** What a run takes from the options that it was started with; the rest is in its configuration. */
export interface RunOrigin {
  readonly context?: unknown;
  readonly parent?: ToolRun | undefined;
}

/** A run's output schema, resolved. */
export interface OutputCheck {
  /** What the model is told, where the schema can say it. */
  readonly request: ModelRequest['output'];
  check(value: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/** Takes a response, or a failure, of a model. Made once a run. */
export interface ResponseHandlers {
  readonly accept: (response: ModelResponse) => ModelResponse;
  readonly refuse: (error: unknown) => never;
}
