import { isAside } from '../../lifecycle/hook-run.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Message } from '../../model/message.js';

/** Effects of active extension packages on a run, besides hooks, servers and skills. */
export interface ExtensionEffects {
  /** Texts that are added to the system instructions. */
  readonly contexts: readonly string[];
  /** Names of tools that are hidden from the model. */
  readonly excludedTools: ReadonlySet<string>;
}

/** Returns the lifecycle for these effects, or undefined if there are no effects. */
export function extensionLifecycle({ contexts, excludedTools }: ExtensionEffects): AgentLifecycle | undefined {
  if (contexts.length === 0 && excludedTools.size === 0) return undefined;
  const text = contexts.join('\n\n');
  return {
    name: 'extensions',
    wrapModelCall:
      contexts.length === 0
        ? undefined
        : (request, next) =>
            next(isAside(request) ? request : { ...request, messages: withInstructions(request.messages, text) }),
    beforeToolSelection:
      excludedTools.size === 0 ? undefined : (tools) => tools.filter(({ name }) => !excludedTools.has(name)),
  };
}

/** Inserts a system message after the existing system messages. */
function withInstructions(messages: readonly Message[], content: string): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const index = first < 0 ? messages.length : first;
  return [...messages.slice(0, index), { role: 'system', content }, ...messages.slice(index)];
}
