import type { Clock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import type { Logger } from '../../internal/logger.js';
import type { Chain } from '../../lifecycle/chain.js';
import type { Budget } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Model, ModelRequest, ModelSettings, ToolChoice } from '../../model/model.js';
import type { StandardResult } from '../../tools/standard-schema.js';
import type { Tool, ToolRun } from '../../tools/tool.js';
import type { ToolCatalog } from '../../tools/tool-catalog.js';
import type { AgentLife } from '../agent-life.js';
import type { AgentListeners } from '../listeners.js';

/** Time limits in milliseconds. By default, only `queueMs` and `idleMs` are limited. */
export interface Timeouts {
  /**
   * Limit of a whole run, including the time to load the agent and the wait for earlier runs of the session. The run
   * ends with a RunTimeoutError.
   *
   * `agent.session()` has the same limit, and fails with a TimeoutExceededError.
   */
  readonly runMs?: number | undefined;
  /**
   * Limit of the time that a run waits for earlier runs of its session. The run fails with a SessionBusyError. Default:
   * 30,000.
   */
  readonly queueMs?: number | undefined;
  /** Limit of each model call. The call fails with a ModelError that may be retried. */
  readonly modelMs?: number | undefined;
  /** Limit until a model call returns its first part, or its response if the model does not stream. */
  readonly firstPartMs?: number | undefined;
  /**
   * Limit of the time between two parts of a streamed response. Keep-alive messages do not count. The call fails with a
   * ModelError of kind `network` that may be retried. Default: 300,000.
   */
  readonly idleMs?: number | undefined;
  /** Limit of each call of a tool that has no `timeoutMs`. The call gets an error result. */
  readonly toolMs?: number | undefined;
  /**
   * Time after which another process may take over the session if this process has died. A run renews its claim every
   * third of this time. Default: 30,000.
   */
  readonly claimMs?: number | undefined;
}

/** Settings of the model calls, and the choice of tools. */
export interface AgentSettings extends ModelSettings {
  /**
   * The tool choice of every model call of the run. `required` never lets the model answer: to require a tool in one
   * turn, set it in `wrapModelCall`.
   */
  readonly toolChoice?: ToolChoice | undefined;
}

/** The maximum number of turns of a run, and the behaviour at the limit. */
export interface TurnLimit {
  /** The maximum number of turns of the run itself. Default: 20. */
  readonly limit?: number | undefined;
  /** The maximum number of turns of the run and of all its nested runs, such as those of agents as tools. Default: none. */
  readonly total?: number | undefined;
  /** `throw` (default) throws TurnLimitError. `answer` makes one more model call, without tools. */
  readonly atLimit?: 'throw' | 'answer' | undefined;
}

/** The resolved configuration of a run. Runs without options share one object. */
export interface RunConfig {
  readonly agent: string;
  readonly model: Model;
  /** A function is called once in each run. */
  readonly instructions: string | ((run: RunContext<never>) => string) | undefined;
  readonly chain: Chain;
  readonly catalog: ToolCatalog;
  readonly maxTurns: number;
  /** The maximum number of turns of the run and all its nested runs. */
  readonly totalTurns: number | undefined;
  readonly atLimit: 'throw' | 'answer';
  /** The maximum number of tool calls of a turn that run at the same time. */
  readonly parallelToolCalls: number;
  readonly settings: ModelSettings | undefined;
  readonly toolChoice: ToolChoice | undefined;
  readonly timeouts: Timeouts;
  readonly logger: Logger;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly hub: AgentListeners;
  readonly output: OutputCheck | undefined;
  readonly life: AgentLife;
  readonly engine: RunEngine;
  /** Set once the run was handed over to another agent. */
  readonly part?: RunPart | undefined;
}

/** Data of a run after a handover, besides the configuration of the current agent. */
interface RunPart {
  /** The configuration of the agent that started the run. */
  readonly owner: RunConfig;
  /**
   * The budgets of the earlier agents of the run. Excludes a budget whose lifecycle the current agent also has, because
   * its own hook counts the calls.
   */
  readonly budgets: readonly Budget[];
  /** Disconnects the run from the current agent: its listeners get no more events. Further calls have no effect. */
  end(): void;
}

/** An agent that can run, or continue a run after a handover. */
export interface RunEngine {
  /** The name of the agent. */
  readonly name: string;
  readonly life: AgentLife;
  /** Resolves when the loaders have finished. Rejects if a loader fails, or if the agent is closed first. */
  ready(): Promise<void>;
  /** Returns the configuration of a run with these options. The tools in `attached` are added to the agent's tools. */
  configFor(options: RunOrigin, attached: { readonly tools?: readonly Tool[] | undefined }): RunConfig;
}

/** The run options that are not part of RunConfig. */
export interface RunOrigin {
  readonly context?: unknown;
  readonly parent?: ToolRun | undefined;
  readonly nested?: boolean | undefined;
}

/** The resolved output schema of a run. */
export interface OutputCheck {
  /** The JSON Schema in the model request; undefined if the schema cannot be converted. */
  readonly request: ModelRequest['output'];
  check(value: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>>;
}

/** The origin of a run without options. */
export const NO_OPTIONS = {};

/** Returns the configuration of the agent that started the run. */
export function ownerOf({ config }: { readonly config: RunConfig }): RunConfig {
  return config.part?.owner ?? config;
}
