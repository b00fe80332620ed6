import { HOOKS, type RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { Tool } from '../tools/tool.js';
import type { LoaderStatus } from './loader-runner.js';

/** An agent as it stands: plain data, made without calling any hook. */
export interface AgentStatus {
  readonly name: string;
  readonly model: string;
  readonly closed: boolean;
  /** Runs that are going on. */
  readonly runs: number;
  /** Sessions that are open. */
  readonly sessions: number;
  /** In the order in which they take part. */
  readonly lifecycles: readonly LifecycleStatus[];
  readonly tools: readonly { readonly name: string; readonly origin?: string | undefined }[];
  readonly loaders: readonly LoaderStatus[];
}

/** A lifecycle as `status()` shows it. */
export interface LifecycleStatus {
  readonly name: string;
  readonly priority: number;
  readonly onFailure: 'throw' | 'continue' | 'block';
  /** The hooks that it implements. */
  readonly hooks: readonly string[];
}

/** A lifecycle's entry as `status()` shows it. */
export function lifecycleStatus({ lifecycle, name, priority, onFailure }: RegisteredLifecycle): LifecycleStatus {
  const hooks = HOOKS.filter((hook) => lifecycle[hook] !== undefined);
  return { name, priority, onFailure, hooks };
}

/** A tool as `status()` shows it. */
export function toolStatus({ name, origin }: Tool): AgentStatus['tools'][number] {
  return { name, origin };
}
