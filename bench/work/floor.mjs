import { runWithHooks } from './floor-hooks.mjs';
import { noopHooks } from './hooks.mjs';
import { fakeModel, PROMPT, streamParts, TOOL } from './script.mjs';
import { addWith, schema } from './tool.mjs';

/**
 * @typedef {{ schema: { parse(input: unknown): { a: number, b: number } }, execute(input: { a: number, b: number }): Promise<string> }} FloorTool
 * @typedef {{ model: import('keelson').Model, tools: Record<string, FloorTool>, hooks: import('./hooks.mjs').Hooks[] }} Floor
 */

/**
 * The floor: a minimal hand-written loop for the same model, tool and messages.
 * @param {import('./script.mjs').Work} work
 * @param {import('./script.mjs').Counts} counts
 * @returns {import('./script.mjs').Side}
 */
export function floorSide(work, counts) {
  const construct = () => ({
    model: fakeModel(work),
    tools: { [TOOL.name]: { schema, execute: addWith(counts) } },
    hooks: noopHooks(work, counts),
  });
  const floor = construct();
  if (work.deltas > 0) return { construct, run: () => readParts(work, counts), text: String };
  if (work.hooks > 0) return { construct, run: () => runWithHooks(floor, PROMPT), text: String };
  return { construct, run: () => run(floor, PROMPT), text: String };
}

/**
 * @param {Floor} floor
 * @param {string} prompt
 */
async function run({ model, tools }, prompt) {
  /** @type {import('keelson').Message[]} */
  const messages = [{ role: 'user', content: prompt }];
  while (true) {
    const { content } = await model.generate({ messages, tools: [] });
    messages.push({ role: 'assistant', content });
    const calls = content.filter((part) => part.type === 'tool-call');
    if (calls.length === 0) return textOf(content);
    messages.push({ role: 'tool', content: await Promise.all(calls.map((call) => runTool(tools, call))) });
  }
}

/**
 * @param {Record<string, FloorTool>} tools
 * @param {import('keelson').ToolCallPart} call
 * @returns {Promise<import('keelson').ToolResultPart>}
 */
export async function runTool(tools, { id, name, input }) {
  const tool = tools[name];
  if (tool === undefined) throw new Error(`Tool calls must name a known tool, got "${name}"`);
  return { type: 'tool-result', id, name, content: await tool.execute(tool.schema.parse(input)) };
}

/** @param {readonly import('keelson').AssistantPart[]} content */
export function textOf(content) {
  const part = content[0];
  return part?.type === 'text' ? part.text : '';
}

/**
 * @param {import('./script.mjs').Work} work
 * @param {import('./script.mjs').Counts} counts
 */
async function readParts(work, counts) {
  let text = '';
  for await (const part of streamParts(work)) {
    if (part.type !== 'text-delta') continue;
    text += part.text;
    counts.deltas++;
  }
  return text;
}
