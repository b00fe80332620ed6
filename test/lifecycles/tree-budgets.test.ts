import {
  Agent,
  type AgentOptions,
  defineTool,
  type ModelRequest,
  RejectedError,
  type Tool,
  TurnLimitError,
} from 'keelson';
import { limits } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { resultsIn } from '../support/agent/transcript.js';

const usage = { inputTokens: 600, outputTokens: 400, totalTokens: 1_000 };
const NONE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Runs an agent inside of a tool, as an application does it itself. */
const wrapped = (agent: Agent, name: string): Tool =>
  defineTool({
    name,
    description: 'Helps.',
    input: z.object({ prompt: z.string() }),
    execute: async ({ prompt }, { run }) => (await agent.run(prompt, { parent: run })).text,
  });
const asTool = (agent: Agent, name: string) => agent.asTool({ name, description: 'Helps.' });

/** An agent with two helpers. Each helper looks five times, and then answers. */
function office(options: Partial<AgentOptions>, toTool: (agent: Agent, name: string) => Tool = asTool) {
  const seen = { modelCalls: 0, looks: 0 };
  const helper = (name: string) => {
    let turn = 0;
    const model = scriptedModel(() => {
      seen.modelCalls += 1;
      turn += 1;
      return turn > 5 ? says('found', { usage }) : says('', { calls: [{ name: 'look' }], usage });
    });
    const look = toolOf('look', () => {
      seen.looks += 1;
      return 'nothing';
    });
    return toTool(new Agent({ name, model, tools: [look] }), name);
  };
  const ask = (name: string) => says('', { calls: [{ name, input: { prompt: 'x' } }], usage: NONE });
  const done = says('Done.', { usage: NONE });
  const left = ['a', 'b'];
  const answer = ({ tools }: ModelRequest) => (tools?.length && left.length && ask(left.shift() ?? '')) || done;
  const boss = new Agent({ name: 'boss', model: scriptedModel(answer), tools: ['a', 'b'].map(helper), ...options });
  return { boss, seen };
}

const limited = (max: Parameters<typeof limits>[0]) => ({ lifecycle: [limits(max)] });

describe.each([
  ['an agent as a tool', asTool],
  ['a tool that runs an agent with `parent`', wrapped],
])('the limits of a run count what happens inside %s', (_title, toTool) => {
  test.each([
    { max: { modelCalls: 4 }, expected: { modelCalls: 3, looks: 3 }, words: '4 model calls (4 used)' },
    { max: { toolCalls: 3 }, expected: { modelCalls: 3, looks: 2 }, words: '3 tool calls (4 used)' },
    { max: { tokens: 3_000 }, expected: { modelCalls: 3, looks: 3 }, words: '3000 tokens (3000 used)' },
  ])('$words', async ({ max, expected, words }) => {
    const { boss, seen } = office(limited(max), toTool);

    const error = await rejectionOf(boss.run('Go.'));

    expect(seen).toEqual(expected);
    expect(error).toBeInstanceOf(RejectedError);
    expect((error as Error).message).toContain(words);
    const told = resultsIn((error as RejectedError).history);
    expect(Object.values(told)[0]).toContain(`The run of agent "boss" reached its limit of ${words}`);
  });

  test('money, with the price of each model', async () => {
    const price = { input: 1_000, output: 1_000 };
    const { boss, seen } = office(limited({ usd: 2, prices: { scripted: price } }), toTool);

    await rejectionOf(boss.run('Go.'));

    expect(seen.modelCalls).toBe(2);
  });

  test('turns, with `total`', async () => {
    const { boss, seen } = office({ maxTurns: { total: 4 } }, toTool);

    const error = await rejectionOf(boss.run('Go.'));

    expect(seen.modelCalls).toBe(3);
    expect(error).toBeInstanceOf(TurnLimitError);
    expect(error).toMatchObject({ maxTurns: 4 });
    expect(Object.values(resultsIn((error as TurnLimitError).history))[0]).toContain(
      'The run of agent "boss" reached its limit of 4 turns in total.',
    );
  });

  test('the tokens of the run are the sum of all runs, while they work', async () => {
    const { boss } = office({}, toTool);

    const result = await boss.run('Go.');

    expect(result.usage.totalTokens).toBe(12 * 1_000);
  });
});

test('a run within its total of turns ends with its answer', async () => {
  const { boss } = office({ maxTurns: { total: 15 } });

  expect((await boss.run('Go.')).text).toBe('Done.');
});

test('at the total of turns, `atLimit: answer` makes one more model call, without tools', async () => {
  const { boss } = office({ maxTurns: { total: 4, atLimit: 'answer' } });

  const { history } = await boss.run('Go.');

  expect(Object.keys(resultsIn(history))).toHaveLength(1);
});

test('each limit around a run counts, and the refusal names the agent whose limit is reached', async () => {
  const inner = office(limited({ modelCalls: 100 }));
  const top = new Agent({
    name: 'top',
    model: scriptedModel([calls({ name: 'middle', input: { prompt: 'x' } }), 'Done.']),
    tools: [inner.boss.asTool({ name: 'middle', description: 'Helps.' })],
    ...limited({ modelCalls: 3 }),
  });

  const error = await rejectionOf(top.run('Go.'));

  expect(inner.seen.modelCalls).toBe(1);
  expect(Object.values(resultsIn((error as RejectedError).history))[0]).toContain('The run of agent "top" reached');
});
