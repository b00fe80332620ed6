import { loadersOf } from './extensions.mjs';
import { noopHooks } from './hooks.mjs';
import { fakeModel, historyOf, PROMPT, TOOL } from './script.mjs';
import { addWith, schema } from './tool.mjs';

/**
 * The same work with the library.
 * @param {typeof import('keelson') & Partial<typeof import('keelson/extension')>} library the measured build
 * @param {import('./script.mjs').Work} work
 * @param {import('./script.mjs').Counts} counts
 * @returns {import('./script.mjs').Side}
 */
export function keelsonSide({ Agent, defineTool, ExtensionRegistry }, work, counts) {
  const inner = new Agent({ model: fakeModel({ ...work, turns: 0 }) });
  const adds = addWith(counts);
  /**
   * @param {{ a: number, b: number }} input
   * @param {import('keelson').ToolContext} context
   */
  const addInside = async (input, { run }) => {
    await inner.run(PROMPT, { parent: run });
    return adds(input);
  };
  const execute = work.nested === 'inside' ? addInside : adds;
  const add = defineTool({ ...TOOL, input: schema, execute });
  const construct = () =>
    new Agent({
      model: fakeModel(work),
      tools: [add],
      lifecycle: noopHooks(work, counts),
      loaders: loadersOf(ExtensionRegistry, work, counts),
      maxTurns: 1000,
    });
  const agent = construct();
  const messages = historyOf(work);
  if (work.deltas > 0) return { construct, run: () => readEvents(agent, counts), text: String };
  if (work.nested === 'beside') return { construct, run: () => inner.run(PROMPT).then(() => agent.run(PROMPT)), text };
  return {
    construct,
    run: messages === undefined ? () => agent.run(PROMPT) : () => agent.run(PROMPT, { messages }),
    text,
  };
}

/** @param {unknown} result */
function text(result) {
  return /** @type {import('keelson').RunResult} */ (result).text;
}

/**
 * @param {import('keelson').Agent} agent
 * @param {import('./script.mjs').Counts} counts
 */
async function readEvents(agent, counts) {
  let text = '';
  for await (const event of agent.stream(PROMPT)) {
    if (event.type !== 'text-delta') continue;
    text += event.text;
    counts.deltas++;
  }
  return text;
}
