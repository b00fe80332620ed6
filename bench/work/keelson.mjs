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
  const add = defineTool({ ...TOOL, input: schema, execute: addWith(counts) });
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
  return {
    construct,
    run: messages === undefined ? () => agent.run(PROMPT) : () => agent.run(PROMPT, { messages }),
    text: (result) => /** @type {import('keelson').RunResult} */ (result).text,
  };
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
