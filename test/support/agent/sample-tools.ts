import { defineTool, type Tool, type ToolContext } from 'keelson';
import { z } from 'zod';

/** A tool that returns its `text` argument. */
export const echo = defineTool({
  name: 'echo',
  description: 'Gives its text back.',
  input: z.object({ text: z.string() }),
  execute: ({ text }) => text,
});

/** A tool that accepts any object and calls the given function. */
export function toolOf(name: string, execute: (input: unknown, context: ToolContext) => unknown): Tool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object' },
    check: (value) => ({ value }),
    execute,
  };
}
