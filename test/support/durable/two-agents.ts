import { Agent } from 'keelson';
import { durable, type Step } from 'keelson/durable';
import { calls, says, scriptedModel } from 'keelson/testing';
import { toolOf } from '../agent/sample-tools.js';
import { pause } from '../agent/settle.js';
import { keepingLogger } from '../agent/silent-logger.js';
import { fileLog } from './file-log.js';

/** The times of the tool calls of both agents, in milliseconds. */
export type Delays = readonly [slow: readonly number[], fast: readonly number[]];

/** The first call of one agent takes longer than all turns of the other. */
const DELAYS: Delays = [
  [400, 1, 1],
  [1, 1, 60],
];

/**
 * Appends the idempotency key of each call to a file. `dieAt` has line numbers of the file, counted from 1: the process dies
 * after it has written such a line.
 */
export function dyingWork(path: string, dieAt: readonly number[]): (key: string) => void {
  const log = fileLog(path);
  return (key) => {
    log.add({ what: 'tool', key });
    if (dieAt.includes(log.all().length)) process.kill(process.pid, 'SIGKILL');
  };
}

/** Random times for four calls of each agent. */
export function randomDelays(): Delays {
  const times = () => Array.from({ length: 4 }, () => Math.floor(80 * Math.random()));
  return [times(), times()];
}

/** Runs two agents at once. Each calls its tool in each turn. `onWork` gets the idempotency key of each call that runs. */
export async function twoAgents(
  step: Step,
  onWork: (key: string) => void,
  [slow, fast]: Delays = DELAYS,
): Promise<readonly string[]> {
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
  return Promise.all([run('slow', slow), run('fast', fast)]);
}
