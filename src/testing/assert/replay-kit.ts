import type { AgentOptions } from '../../agent/agent-options.js';

/** The part of a durable lifecycle that the check uses. */
export interface DurableKit {
  /** Returns the options of an agent whose runs are durable. */
  options(options: AgentOptions): AgentOptions;
}

/** The functions of `keelson/durable` that the check `replay` needs. An object, so that tests load them only if used. */
export interface ReplayKit {
  /** The function `durable`. */
  durable(options: { readonly step: never; readonly maxAttempts: number }): DurableKit;
  /** The function `memoryStep`. */
  memoryStep(options: { readonly journal?: never }): { readonly journal: readonly unknown[] };
}
