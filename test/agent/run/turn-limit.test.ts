import { Agent, type RunError } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';

const call = calls('echo', { text: 'x' });
const endless = () => scriptedModel(call);

describe('maxTurns', () => {
  test.each([1, 2, 7])(
    '%i allows that number of model calls, then throws a TurnLimitError with the messages',
    async (maxTurns) => {
      const model = endless();

      const error = (await rejectionOf(new Agent({ model, tools: [echo], maxTurns }).run('go'))) as RunError;

      expect(error).toMatchObject({ code: 'ERR_TURN_LIMIT', maxTurns });
      expect(model.requests).toHaveLength(maxTurns);
      expect(error.messages).toHaveLength(1 + 2 * maxTurns);
      expect(transcript(error.history).at(-1)).toBe(`tool: call_${maxTurns}=x`);
      expect(error.usage.totalTokens).toBe(15 * maxTurns);
    },
  );

  test('is twenty by default', async () => {
    const model = endless();

    const error = await rejectionOf(new Agent({ model, tools: [echo] }).run('go'));

    expect(error).toMatchObject({ maxTurns: 20 });
    expect(model.requests).toHaveLength(20);
  });

  test('is not reached by an answer in the last turn', async () => {
    const model = scriptedModel([call, call, 'done']);

    const { text, turns } = await new Agent({ model, tools: [echo], maxTurns: 3 }).run('go');

    expect([text, turns]).toEqual(['done', 3]);
  });

  test('allows a new run to continue from the history of the error', async () => {
    const model = scriptedModel([call, call, 'done']);
    const agent = new Agent({ model, tools: [echo], maxTurns: 2 });
    const { history } = (await rejectionOf(agent.run('go'))) as RunError;

    const { text, messages } = await agent.run('', { messages: history });

    expect(text).toBe('done');
    expect(transcript(messages)).toEqual(['assistant: done']);
  });

  test('does not count repeated model calls of a hook', async () => {
    const model = scriptedModel(['one', 'two', 'three']);
    const agent = new Agent({
      model,
      maxTurns: 1,
      lifecycle: [
        {
          wrapModelCall: (_request, next) =>
            next()
              .then(() => next())
              .then(() => next()),
        },
      ],
    });

    const { text, turns } = await agent.run('go');

    expect([text, turns, model.requests.length]).toEqual(['three', 1, 3]);
  });
});

describe("maxTurns with atLimit 'answer'", () => {
  const maxTurns = { limit: 2, atLimit: 'answer' } as const;

  test('makes one more model call without tools', async () => {
    const model = scriptedModel([call, call, 'as far as I know']);

    const { text, turns, status } = await new Agent({ model, tools: [echo], maxTurns }).run('go');

    expect([text, turns, status]).toEqual(['as far as I know', 3, 'completed']);
    expect(model.requests.map(({ tools, toolChoice }) => [tools.length, toolChoice])).toEqual([
      [1, undefined],
      [1, undefined],
      [0, 'none'],
    ]);
  });

  test('offers no tool in that turn, also if a hook selects tools', async () => {
    const selected: number[] = [];
    const model = scriptedModel([call, call, 'done']);
    const agent = new Agent({
      model,
      maxTurns,
      lifecycle: [
        {
          beforeToolSelection(_tools, run) {
            selected.push(run.turn);
            return [echo];
          },
        },
      ],
    });

    await agent.run('go');

    expect(selected).toEqual([1, 2]);
    expect(model.requests[2]?.tools).toEqual([]);
  });

  test('runs no tool if the model still calls one, and throws TurnLimitError', async () => {
    const error = (await rejectionOf(new Agent({ model: endless(), tools: [echo], maxTurns }).run('go'))) as RunError;

    expect(error).toMatchObject({ code: 'ERR_TURN_LIMIT', maxTurns: 2 });
    expect(transcript(error.messages).at(-1)).toBe('tool: call_3!There is no tool "echo". No tool is offered.');
  });

  test('has no effect if the answer comes in time', async () => {
    const model = scriptedModel([call, 'done']);

    expect((await new Agent({ model, tools: [echo], maxTurns }).run('go')).turns).toBe(2);
  });

  test('also checks that answer against the output schema', async () => {
    const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    const agent = new Agent({ model: scriptedModel([call, call, '{"a":1}']), tools: [echo], maxTurns });

    expect((await agent.run('go', { output })).output).toEqual({ a: 1 });
  });
});
