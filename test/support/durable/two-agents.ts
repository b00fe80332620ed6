import { durable, type Step } from '../../../src/durable/durable.js';
import { Agent } from '../../../src/index.js';
import { calls, says, scriptedModel } from '../../../src/testing/testing.js';
import { toolOf } from '../agent/sample-tools.js';
import { pause } from '../agent/settle.js';
import { keepingLogger } from '../agent/silent-logger.js';

/**
 * Runs two agents at once. Each calls its tool in three turns, and the calls take different times. `onWork` gets the
 * idempotency key of each call that runs.
 */
export async function twoAgents(step: Step, onWork: (key: string) => void): Promise<readonly string[]> {
  const engine = durable({ step });
  const run = async (name: string, delays: readonly number[]) => {
    const wait = toolOf(name, async (input, { idempotencyKey }) => {
      const { text } = input as { readonly text: string };
      onWork(idempotencyKey);
      await pause(Number(text));
      return `${name} ${text}`;
    });
    const turns = delays.map((ms) => calls({ name, input: { text: `${ms}` } }));
    const model = scriptedModel([...turns, says(name)], { perRun: true });
    const agent = new Agent(engine.options({ name, model, tools: [wait], logger: keepingLogger() }));
    const { text, history } = await agent.run(name);
    return JSON.stringify([text, history]);
  };
  return Promise.all([run('slow', [400, 1, 1]), run('fast', [1, 1, 60])]);
}
