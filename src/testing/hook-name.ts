import type { AgentLifecycle } from '../lifecycle/lifecycle.js';

/** The name of a hook point, from `onInit` to `onShutdown`. */
export type HookName = Exclude<
  keyof AgentLifecycle,
  'name' | 'priority' | 'onFailure' | 'timeoutMs' | 'holdStream' | 'tools'
>;

/** Every hook point, in the order of a life. */
export const HOOKS: readonly HookName[] = Object.keys({
  onInit: true,
  onSessionStart: true,
  beforeAgent: true,
  beforeModel: true,
  beforeToolSelection: true,
  wrapModelCall: true,
  afterModel: true,
  wrapToolCall: true,
  afterAgent: true,
  onError: true,
  onSessionEnd: true,
  onShutdown: true,
} satisfies Record<HookName, true>) as HookName[];
