import { Agent, type Model, type ModelResponse } from 'keelson';
import { calls, fails, hangs, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';
import { resultsIn, transcript } from '../support/agent/transcript.js';

describe('the options of one run', () => {
  test('replace the model, tools and turn limit of the agent for that run only', async () => {
    const own = scriptedModel(['own', 'own']);
    const other = scriptedModel([calls('other', {}), 'x'], { id: 'other-model' });
    const seen: unknown[] = [];
    const agent = new Agent({
      model: own,
      tools: [echo],
      lifecycle: [
        {
          tools: [toolOf('brought', () => 'ok')],
          beforeModel: (_messages, run) => void seen.push([run.model.id, run.turn]),
        },
      ],
    });

    const options = { model: other, tools: [toolOf('other', () => 'ok')], maxTurns: 1 };
    const error = await rejectionOf(agent.run('go', options));
    const { text } = await agent.run('go');

    expect(error).toMatchObject({ code: 'ERR_TURN_LIMIT', maxTurns: 1 });
    expect(text).toBe('own');
    expect(seen).toEqual([
      ['other-model', 1],
      ['scripted', 1],
    ]);
    const toolsOf = (model: typeof own) => model.requests.map(({ tools }) => tools.map(({ name }) => name));
    expect(toolsOf(other)).toEqual([['other', 'brought']]);
    expect(toolsOf(own)).toEqual([['echo', 'brought']]);
  });

  test('are merged over the settings of the agent', async () => {
    const model = scriptedModel('done');
    const agent = new Agent({ model, settings: { temperature: 0.5, seed: 7, toolChoice: 'required' } });

    await agent.run('go', { settings: { temperature: 0, topP: 0.9 } });
    await agent.run('go', { settings: { toolChoice: 'none' } });
    await agent.run('go');

    expect(model.requests.map(({ settings, toolChoice }) => [settings, toolChoice])).toEqual([
      [{ temperature: 0, seed: 7, topP: 0.9 }, 'required'],
      [{ temperature: 0.5, seed: 7 }, 'none'],
      [{ temperature: 0.5, seed: 7 }, 'required'],
    ]);
  });

  test('are merged over the timeouts of the agent', async () => {
    const agent = new Agent({ model: scriptedModel(hangs()), timeouts: { modelMs: 5, runMs: 60_000 } });

    expect(await rejectionOf(agent.run('go', { timeouts: { runMs: 2 } }))).toMatchObject({ code: 'ERR_RUN_TIMEOUT' });
    expect(await rejectionOf(agent.run('go', { timeouts: { toolMs: 2 } }))).toMatchObject({ code: 'ERR_MODEL_FAILED' });
    expect(await rejectionOf(agent.run('go', { timeouts: { modelMs: undefined, runMs: 15 } }))).toMatchObject({
      code: 'ERR_RUN_TIMEOUT',
    });
  });

  test('continue from `messages`, with the input after them, or without a user message if the input is empty', async () => {
    const model = scriptedModel('done');
    const agent = new Agent({ model, instructions: 'Be brief.' });
    const messages = [{ role: 'user', content: 'before' } as const];

    const asked = await agent.run('now', { messages });
    const silent = await agent.run('', { messages });
    const empty = await agent.run('');
    const none = await agent.run('', { messages: null as never });

    expect(model.requests.map((request) => transcript(request.messages))).toEqual([
      ['system: Be brief.', 'user: before', 'user: now'],
      ['system: Be brief.', 'user: before'],
      ['system: Be brief.', 'user: '],
      ['system: Be brief.', 'user: '],
    ]);
    expect(transcript(asked.messages)).toEqual(['user: now', 'assistant: done']);
    expect(transcript(asked.history)).toEqual(['user: before', 'user: now', 'assistant: done']);
    expect(transcript(silent.messages)).toEqual(['assistant: done']);
    expect(transcript(empty.messages)).toEqual(['user: ', 'assistant: done']);
    expect(none).toEqual(empty);
  });

  test('pass the context to every hook and tool', async () => {
    interface Tenant {
      readonly id: string;
    }
    const seen: string[] = [];
    const agent = new Agent<Tenant>({
      model: scriptedModel([calls('whose'), 'done']),
      tools: [toolOf('whose', (_input, { context }) => (context as Tenant).id)],
      lifecycle: [{ beforeAgent: (_input, { context }) => void seen.push(context.id) }],
    });

    const { messages } = await agent.run('go', { context: { id: 't1' } });

    expect(seen).toEqual(['t1']);
    expect(resultsIn(messages)).toEqual({ call_1: 't1' });
  });
});

describe('a model', () => {
  class Counting implements Model {
    readonly id = 'counting';
    #calls = 0;
    generate(): Promise<ModelResponse> {
      this.#calls += 1;
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      return Promise.resolve({ content: [{ type: 'text', text: `${this.#calls}` }], finishReason: 'stop', usage });
    }
  }

  test.each([
    ['without options', {}],
    ['with a signal', { signal: new AbortController().signal }],
    ['with a time-out', { timeouts: { modelMs: 1_000 } }],
  ])('that is a class instance keeps its `this`, called %s', async (_title, options) => {
    expect((await new Agent({ model: new Counting() }).run('go', options)).text).toBe('1');
  });

  test('that fails with a status code keeps the data that a retry needs', async () => {
    const cause = Object.assign(new Error('slow down'), { status: 429, retryAfterMs: 250 });
    const error = await rejectionOf(new Agent({ model: scriptedModel([fails(cause)]) }).run('go'));

    expect(error).toMatchObject({
      code: 'ERR_MODEL_FAILED',
      model: 'scripted',
      status: 429,
      retryAfterMs: 250,
      retryable: true,
      cause,
      messages: [{ role: 'user', content: 'go' }],
    });
  });
});
