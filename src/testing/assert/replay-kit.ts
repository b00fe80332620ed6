import type { AgentOptions } from '../../agent/agent-options.js';

/** The functions of `keelson/durable` that the check `replay` needs. An object, so that tests load them only if used. */
export interface ReplayKit {
  durable(options: { readonly step: never; readonly maxAttempts: number }): {
    options(options: AgentOptions): AgentOptions;
  };
  memoryStep(options: { readonly journal?: never }): { readonly journal: readonly unknown[] };
}
