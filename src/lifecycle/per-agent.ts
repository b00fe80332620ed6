import type { AgentLifecycle, LoaderHost } from './lifecycle.js';

type Make = (host: LoaderHost) => AgentLifecycle<never>;

/**
 * The key of a function that makes a lifecycle for one agent. A registered symbol, because each package entry has its
 * own copy of this module.
 */
const FOR_AGENT = Symbol.for('keelson.for-agent');

/**
 * Marks a lifecycle that must not be shared by agents. `make` is called once for each agent, and returns the lifecycle
 * for that agent.
 */
export function perAgent<Lifecycle extends AgentLifecycle<never>>(lifecycle: Lifecycle, make: Make): Lifecycle {
  return Object.assign(lifecycle, { [FOR_AGENT]: make });
}

/** Returns the lifecycle that `perAgent` makes for this agent, or `lifecycle` itself if agents share it. */
export function forAgent(lifecycle: AgentLifecycle<never>, host: LoaderHost): AgentLifecycle<never> {
  return (lifecycle as { readonly [FOR_AGENT]?: Make })[FOR_AGENT]?.(host) ?? lifecycle;
}
