import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Message } from '../../model/message.js';

/** What active extensions change of a run beside their hooks, servers and skills. */
export interface ExtensionEffects {
  /** Texts that join the instructions. */
  readonly contexts: readonly string[];
  /** Names of tools that are not offered. */
  readonly excludedTools: ReadonlySet<string>;
}

/** The lifecycle of these effects, with the points that they need; undefined where they need none. */
export function extensionLifecycle({ contexts, excludedTools }: ExtensionEffects): AgentLifecycle | undefined {
  if (contexts.length === 0 && excludedTools.size === 0) return undefined;
  const text = contexts.join('\n\n');
  return {
    name: 'extensions',
    wrapModelCall:
      contexts.length === 0
        ? undefined
        : (request, next) => next({ ...request, messages: withInstructions(request.messages, text) }),
    beforeToolSelection:
      excludedTools.size === 0 ? undefined : (tools) => tools.filter(({ name }) => !excludedTools.has(name)),
  };
}

/** Behind the instructions that are there. */
function withInstructions(messages: readonly Message[], content: string): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const at = first < 0 ? messages.length : first;
  return [...messages.slice(0, at), { role: 'system', content }, ...messages.slice(at)];
}
