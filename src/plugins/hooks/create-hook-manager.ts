import { validateOptions } from '../../internal/options/validate.js';
import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import {
  callingRules,
  type HookManager,
  type HookManagerOptions,
  PluginHookManager,
  resolveCalling,
} from './hook-manager.js';
import { AgentTools } from './tool-registry.js';

/**
 * Creates a hook manager without plugins. Pass it to an agent as a loader.
 *
 * @example
 * const hooks = createHookManager();
 * hooks.register({ name: 'trim', hooks: { beforeMessage: (message) => message.trim() } });
 * const agent = new Agent({ model, loaders: [hooks] });
 */
export function createHookManager(options: HookManagerOptions = {}): HookManager {
  validateOptions(options, callingRules);
  const manager = new PluginHookManager(resolveCalling(options));
  return Object.assign(manager, { name: 'plugins', load: (host: LoaderHost) => addTo(host, manager) });
}

async function addTo(host: LoaderHost, manager: PluginHookManager): Promise<void> {
  if (!manager.isInitialised) {
    const tools = new AgentTools(host, manager);
    await manager.initialiseEach((part) => ({ config: { plugins: [] }, toolRegistry: tools.registryOf(part) }));
  }
  for (const lifecycle of manager.lifecycles()) host.use(lifecycle);
}
