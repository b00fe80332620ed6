import { HOOKS, type RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { Tool } from '../tools/tool.js';
import type { LoaderStatus } from './loader-runner.js';

/** The current state of an agent, as plain data. */
export interface AgentStatus {
  readonly name: string;
  readonly model: string;
  readonly closed: boolean;
  /** The number of active runs. */
  readonly runs: number;
  /** The number of open sessions. */
  readonly sessions: number;
  /** The lifecycles in the order in which their hooks are called. */
  readonly lifecycles: readonly LifecycleStatus[];
  readonly tools: readonly { readonly name: string; readonly origin?: string | undefined }[];
  readonly loaders: readonly LoaderStatus[];
}

/** A lifecycle as `status()` shows it. */
export interface LifecycleStatus {
  readonly name: string;
  readonly priority: number;
  readonly onFailure: 'throw' | 'continue' | 'block';
  /** The names of the hooks that the lifecycle implements. */
  readonly hooks: readonly string[];
}

/** Converts a registered lifecycle for `status()`. */
export function lifecycleStatus({ lifecycle, name, priority, onFailure }: RegisteredLifecycle): LifecycleStatus {
  const hooks = HOOKS.filter((hook) => lifecycle[hook] !== undefined);
  return { name, priority, onFailure, hooks };
}

/** Converts a tool for `status()`. */
export function toolStatus({ name, origin }: Tool): AgentStatus['tools'][number] {
  return { name, origin };
}
