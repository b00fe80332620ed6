import type { AgentLifecycle } from '../lifecycle/lifecycle.js';

/** The name of a hook, from `onInit` to `onShutdown`. */
export type HookName = Exclude<
  keyof AgentLifecycle,
  'name' | 'priority' | 'onFailure' | 'timeoutMs' | 'holdStream' | 'tools'
>;
