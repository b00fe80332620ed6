import { Agent, type AgentLifecycle, HookAction, type Model, type ModelResponse, type Usage } from 'keelson';
import { says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';

const text = { type: 'text', text: 'Hello.' } as const;
const used: Usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
const zero: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Makes a response of JavaScript code, which the compiler does not check. */
const loose = (response: object) => response as unknown as ModelResponse;
const modelOf = (response: object): Model => ({ id: 'loose', generate: async () => loose(response) });
const answering = () => scriptedModel([says('Hello.', { usage: used })]);

/** Runs an agent, and returns its result and the responses that a last `afterModel` hook saw. */
async function run(model: Model, ...lifecycle: AgentLifecycle[]) {
  const seen: ModelResponse[] = [];
  const last: AgentLifecycle = { priority: 0, afterModel: (response) => void seen.push({ ...response }) };
  const result = await new Agent({ model, lifecycle: [...lifecycle, last] }).run('Hi');
  return { result, seen };
}

describe('a response that lacks its usage and its finish reason', () => {
  test.each([
    ['nothing', {}, { usage: zero, finishReason: 'other' }],
    ['null', { usage: null, finishReason: null }, { usage: zero, finishReason: 'other' }],
    [
      'a part of the usage',
      { usage: { inputTokens: 3 }, finishReason: 'stop' },
      { usage: { inputTokens: 3, outputTokens: 0, totalTokens: 3 }, finishReason: 'stop' },
    ],
  ])('of a model that gives %s is made whole before any hook', async (_, given, whole) => {
    const { result, seen } = await run(modelOf({ content: [text], ...given }));

    expect(seen).toEqual([{ content: [text], ...whole }]);
    expect(result).toMatchObject({ text: 'Hello.', ...whole });
  });

  test('of a wrapModelCall hook that does not call `next` gets no tokens', async () => {
    const cache: AgentLifecycle = { wrapModelCall: () => loose({ content: [text] }) };

    const { seen } = await run(modelOf({ content: [] }), cache);

    expect(seen).toEqual([{ content: [text], usage: zero, finishReason: 'other' }]);
  });

  test('of a wrapModelCall hook after `next` keeps those of the model', async () => {
    const shout: AgentLifecycle = {
      wrapModelCall: async (request, next) => {
        await next(request);
        return loose({ content: [text] });
      },
    };

    const { seen } = await run(answering(), shout);

    expect(seen).toEqual([{ content: [text], usage: used, finishReason: 'stop' }]);
  });

  test('of HookAction.modify keeps those of the response that it replaces', async () => {
    const shout: AgentLifecycle = { afterModel: () => HookAction.modify(loose({ content: [text] })) };

    const { seen, result } = await run(answering(), shout);

    expect(seen).toEqual([{ content: [text], usage: used, finishReason: 'stop' }]);
    expect(result.usage).toEqual(used);
  });

  test('because an afterModel hook deleted them in place gets them back', async () => {
    const careless: AgentLifecycle = {
      afterModel: (response) => {
        Object.assign(response, { usage: undefined, finishReason: undefined });
      },
    };

    const { seen } = await run(answering(), careless);

    expect(seen).toMatchObject([{ usage: used, finishReason: 'stop' }]);
  });
});
