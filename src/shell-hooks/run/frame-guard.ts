import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { ToolResult } from '../../tools/tool.js';
import { withoutHookFrames } from './text.js';

/** Escapes tags in the results of tools that imitate messages of hooks. Outermost, so that no later hook adds one. */
export const frameGuard: AgentLifecycle = {
  name: 'shell-hooks:frames',
  priority: 100,
  async wrapToolCall(call, next) {
    const result = await next(call);
    const content = escaped(result.content);
    return content === result.content ? result : { ...result, content };
  },
};

/** Returns the same content if it has no such tag. */
function escaped(content: ToolResult['content']): ToolResult['content'] {
  if (typeof content === 'string') return withoutHookFrames(content);
  let isChanged = false;
  const parts = content.map((part) => {
    const text = part.type === 'text' ? withoutHookFrames(part.text) : undefined;
    if (part.type !== 'text' || text === undefined || text === part.text) return part;
    isChanged = true;
    return { ...part, text };
  });
  return isChanged ? parts : content;
}
