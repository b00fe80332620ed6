import { isAside } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Message } from '../../model/message.js';
import type { Tool } from '../../tools/tool.js';

/** Effects of active extension packages on a run, besides hooks, servers and skills. */
export interface ExtensionEffects {
  /** Texts that are added to the system instructions. */
  readonly contexts: readonly string[];
  /** Returns the tools that are not hidden from the model. */
  readonly visible: (tools: readonly Tool[]) => readonly Tool[];
}

/** Returns the lifecycle for these effects, which may change during a run. */
export function extensionLifecycle(current: () => ExtensionEffects): AgentLifecycle {
  return {
    name: 'extensions',
    wrapModelCall(request, next) {
      const text = current().contexts.join('\n\n');
      if (text === '' || isAside(request)) return next(request);
      return next({ ...request, messages: withInstructions(request.messages, text) });
    },
    beforeToolSelection(tools) {
      const visible = current().visible(tools);
      return visible.length === tools.length ? undefined : visible;
    },
  };
}

/** Inserts a system message after the existing system messages. */
function withInstructions(messages: readonly Message[], content: string): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const index = first < 0 ? messages.length : first;
  return [...messages.slice(0, index), { role: 'system', content }, ...messages.slice(index)];
}
