import type { Tool, ToolContext } from '../../tools/tool.js';
import { ScriptedFailureError } from './error.js';
import { aborted } from './step.js';

/**
 * What is wrong with a tool: it throws; it hangs until its signal aborts; it is deaf, so that it hangs on even then; it
 * gives `undefined`, which is no result.
 */
export type ToolFault = 'throws' | 'hangs' | 'deaf' | 'gives-nothing';

/**
 * Makes a tool that takes any arguments and is faulty in one way. It is named after its fault by default.
 *
 * @example
 * const agent = new Agent({ model: scriptedModel([calls('throws'), says('sorry')]), tools: [faultyTool('throws')] });
 * const { text } = await agent.run('Go');
 * expect(text).toBe('sorry');
 */
export function faultyTool(fault: ToolFault, name: string = fault): Tool {
  return {
    name,
    description: `A tool that ${fault.replace('-', ' ')}.`,
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
  'gives-nothing': () => undefined,
};
