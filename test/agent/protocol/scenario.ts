import type { AgentLifecycle, Session } from 'keelson';
import type { Budget } from './explorer.js';
import type { Process } from './process.js';

/** The work of a process, from its start to its end. */
export type Script = (me: Process, session: Session) => Promise<void>;

/** Processes that share a conversation, and what may go wrong. */
export interface Scenario {
  /** The tools that the model calls, with the number of approvals that each call needs. */
  readonly calls: Readonly<Record<string, number>>;
  /** The tools that the model of the agent `helper` calls. The first model calls `helper`, too. */
  readonly inside?: Readonly<Record<string, number>> | undefined;
  readonly processes: Readonly<Record<string, Script>>;
  /** True if the events of the runs go to a run log. */
  readonly log?: boolean | undefined;
  /** True if a post can reach a run while its model works. Otherwise the model answers at once. */
  readonly isHeard?: boolean | undefined;
  readonly lifecycle?: readonly AgentLifecycle[] | undefined;
  /** All schedules within each of these budgets are explored. */
  readonly budgets: readonly Partial<Budget>[];
  /** The processes that start again after a crash. Default: all. */
  readonly restarts?: ((name: string) => boolean) | undefined;
}
