import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { Message } from '../model/message.js';
import type { Tool, ToolResult } from '../tools/tool.js';

/** What active extensions change of a run beside their hooks, servers and skills. */
export interface ExtensionEffects {
  /** Texts that join the instructions. */
  readonly contexts: readonly string[];
  /** Names of tools that are not offered. */
  readonly excludedTools: ReadonlySet<string>;
  /** Takes sensitive values out of a text; undefined where there are none. */
  readonly redact: ((text: string) => string) | undefined;
  /** Whether a tool belongs to a server of an extension. */
  readonly isOwn: (tool: Tool | undefined) => boolean;
}

/** The lifecycle of these effects, with the points that they need; undefined where they need none. */
export function extensionLifecycle({
  contexts,
  excludedTools,
  redact,
  isOwn,
}: ExtensionEffects): AgentLifecycle | undefined {
  if (contexts.length === 0 && excludedTools.size === 0 && redact === undefined) return undefined;
  const text = contexts.join('\n\n');
  return {
    name: 'extensions',
    // Outermost: what a part further in made of a result is looked at too.
    priority: 100,
    wrapModelCall:
      contexts.length === 0
        ? undefined
        : (request, next) => next({ ...request, messages: withInstructions(request.messages, text) }),
    beforeToolSelection:
      excludedTools.size === 0 ? undefined : (tools) => tools.filter(({ name }) => !excludedTools.has(name)),
    wrapToolCall:
      redact === undefined
        ? undefined
        : async (call, next) => {
            const result = await next(call);
            return isOwn(call.tool) && 'content' in result ? redacted(result, redact) : result;
          },
  };
}

/** Behind the instructions that are there. */
function withInstructions(messages: readonly Message[], content: string): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const at = first < 0 ? messages.length : first;
  return [...messages.slice(0, at), { role: 'system', content }, ...messages.slice(at)];
}

function redacted(result: ToolResult, redact: (text: string) => string): ToolResult {
  const { content, structured } = result;
  const shown = structured === undefined ? undefined : JSON.stringify(structured);
  return {
    ...result,
    content:
      typeof content === 'string'
        ? redact(content)
        : content.map((part) => (part.type === 'text' ? { ...part, text: redact(part.text) } : part)),
    ...(shown !== undefined && { structured: JSON.parse(redact(shown)) }),
  };
}
