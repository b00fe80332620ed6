import type { Tool, ToolContext } from '../../tools/tool.js';
import { ScriptedFailureError } from './error.js';
import { aborted } from './step.js';

/**
 * The fault of a tool. `throws`: it throws. `hangs`: it waits until its signal aborts. `deaf`: it never returns, even
 * after an abort. `gives-no-json`: it returns a function, which is not JSON.
 */
export type ToolFault = 'throws' | 'hangs' | 'deaf' | 'gives-no-json';

/**
 * Creates a tool that accepts any arguments and has one fault. By default the name of the fault is the name of the
 * tool.
 *
 * @example
 * const agent = new Agent({ model: scriptedModel([calls('throws'), says('sorry')]), tools: [faultyTool('throws')] });
 * const { text } = await agent.run('Go');
 * expect(text).toBe('sorry');
 */
export function faultyTool(fault: ToolFault, name: string = fault): Tool {
  return {
    name,
    description: `A tool that ${fault.replaceAll('-', ' ')}.`,
    inputSchema: { type: 'object' },
    check: (input) => ({ value: input }),
    execute: (_input, context) => FAULTS[fault](context),
  };
}

const FAULTS: Readonly<Record<ToolFault, (context: ToolContext) => unknown>> = {
  throws() {
    throw new ScriptedFailureError('The tool failed as scripted.');
  },
  hangs: ({ signal }) => aborted(signal),
  deaf: () => new Promise(() => {}),
  'gives-no-json': () => () => {},
};
