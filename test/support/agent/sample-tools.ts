import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.js';
import type { Tool, ToolContext } from '../../../src/tools/tool.js';

/** Gives its text back. */
export const echo = defineTool({
  name: 'echo',
  description: 'Gives its text back.',
  input: z.object({ text: z.string() }),
  execute: ({ text }) => text,
});

/** A tool that takes any object and does what it is told. */
export function toolOf(name: string, execute: (input: unknown, context: ToolContext) => unknown): Tool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object' },
    check: (value) => ({ value }),
    execute,
  };
}
