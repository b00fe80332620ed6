import { Agent, type AgentOptions } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, type ExtensionRegistryOptions } from 'keelson/extension';
import { FileStateStore } from 'keelson/file';
import type { StateStore } from 'keelson/store';
import { scriptedModel } from 'keelson/testing';
import { temporaryFolder } from '../stores/temporary-folder.js';
import { recordingLogger, recordingSink } from './lab.js';

export const policy = { ttlMs: 3_600_000, sessionTtlMs: 86_400_000, extensionBytes: 1_000, sessionBytes: 1_000 };

/** Runs around one call of a store. */
type Around = (call: () => Promise<unknown>) => Promise<unknown>;

/**
 * Returns a store that records the names of its called methods. `failing` names methods that reject, and `around` has a
 * function for the next call of a method.
 */
function recording(store: StateStore) {
  const called: string[] = [];
  const failing = new Set<string>();
  const around = new Map<string, Around>();
  const proxy = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]) => {
        called.push(String(name));
        if (failing.has(String(name))) throw new Error('The disk is full.');
        const run: Around = around.get(String(name)) ?? ((call) => call());
        around.delete(String(name));
        return run(async () => member.apply(target, given));
      };
    },
  });
  return { store: proxy, called, failing, around };
}

/** Returns an agent with these extensions, whose store of state records its calls. */
export async function labOf(
  extensions: readonly ExtensionInput[],
  options: ExtensionRegistryOptions = {},
  agentOptions: Partial<AgentOptions> = {},
) {
  const files = new FileStateStore({ folder: await temporaryFolder() });
  const { store, ...calls } = recording(options.state ?? files);
  const logger = recordingLogger();
  const metrics = recordingSink();
  const registry = new ExtensionRegistry({ metrics, ...options, state: store });
  for (const extension of extensions) registry.register(extension);
  const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [registry], logger, ...agentOptions });
  const messages = (level: string) => logger.records.filter((it) => it.level === level).map(({ message }) => message);
  return { files, ...calls, registry, agent, metrics, messages };
}
