import { Agent, type AgentOptions, HookAction, type RunContext, type RunError } from 'keelson';
import { calls, fails, hangs, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { echo, toolOf } from '../support/agent/sample-tools.js';
import { LATE, pause, rejectionOf, until, within } from '../support/agent/settle.js';
import { resultsIn } from '../support/agent/transcript.js';

/** Makes an agent and a sub-agent, which the agent calls as the tool `helper`. */
function arrange(script: readonly ScriptEntry[], helper: Partial<AgentOptions> = {}) {
  const inner = new Agent({ name: 'helper', model: scriptedModel(script), ...helper });
  const tool = inner.asTool({ description: 'Helps.' });
  const model = scriptedModel([calls('helper', { prompt: 'help me' }), 'done']);
  return { inner, outer: new Agent({ name: 'boss', model, tools: [tool] }), tool };
}

describe('asTool', () => {
  test('runs the agent with the prompt and returns its text as the result', async () => {
    const model = scriptedModel(['helped']);
    const { outer } = arrange([], { model });

    const { messages, text } = await outer.run('go');

    expect(text).toBe('done');
    expect(resultsIn(messages)).toEqual({ call_1: 'helped' });
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'help me' }]);
  });

  test('has the name of the agent, an origin, and `prompt` as its only argument', async () => {
    const { tool, outer } = arrange([]);

    expect(tool).toMatchObject({ name: 'helper', description: 'Helps.', origin: 'agent helper' });
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['prompt'], additionalProperties: false });
    expect(await tool.check({ prompt: 5 })).toMatchObject({ issues: [{ path: ['prompt'] }] });
    expect(outer.status().tools).toEqual([{ name: 'helper', origin: 'agent helper' }]);
  });

  test('refuses a name that is invalid for a tool', () => {
    const agent = new Agent({ name: 'my helper', model: scriptedModel([]) });

    expect(() => agent.asTool({ description: 'Helps.' })).toThrow(
      expect.objectContaining({ code: 'ERR_TOOL_INVALID' }),
    );
    expect(agent.asTool({ description: 'Helps.', name: 'my_helper' }).name).toBe('my_helper');
  });

  test('accepts a schema that cannot be converted to JSON Schema together with `inputSchema`', () => {
    const agent = new Agent({ name: 'helper', model: scriptedModel([]) });
    const options = { description: '', input: v.object({ city: v.string() }) };
    const inputSchema = { type: 'object', required: ['city'] };

    expect(() => agent.asTool(options)).toThrow('pass one as `inputSchema`');
    expect(agent.asTool({ ...options, inputSchema }).inputSchema).toEqual(inputSchema);
  });

  test('accepts custom arguments, and passes them as JSON or as `toPrompt` returns them', async () => {
    const model = scriptedModel('ok');
    const inner = new Agent({ model });
    const input = z.object({ city: z.string() });
    const tools = [
      inner.asTool({ name: 'plain', description: '', input }),
      inner.asTool({
        name: 'worded',
        description: '',
        input,
        toPrompt: ({ city }) => `Weather in ${city}`,
      }),
    ];
    const city = { city: 'Oslo' };
    const outer = new Agent({
      model: scriptedModel([calls({ name: 'plain', input: city }, { name: 'worded', input: city }), 'done']),
      tools,
      parallelToolCalls: false,
    });

    await outer.run('go');

    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual(['{"city":"Oslo"}', 'Weather in Oslo']);
  });

  test('passes on the context, the parent and a signal', async () => {
    const runs: RunContext[] = [];
    const { outer, inner } = arrange([({ signal }) => (signal === undefined ? 'no signal' : 'a signal')]);
    outer.use({ beforeAgent: (_input, run) => void runs.push(run) });
    inner.use({ beforeAgent: (_input, run) => void runs.push(run) });
    const context = { user: 'u1' };

    const { messages } = await outer.run('go', { context });

    expect(runs[1]?.context).toBe(context);
    expect(runs[1]?.parent).toBe(runs[0]);
    expect(resultsIn(messages)).toEqual({ call_1: 'a signal' });
  });

  test('adds its tokens to those of the calling run', async () => {
    const { outer } = arrange([
      says('helped', { usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 7, reasoningTokens: 3 } }),
    ]);

    expect((await outer.run('go')).usage).toEqual({
      inputTokens: 120,
      outputTokens: 30,
      totalTokens: 150,
      cachedInputTokens: 7,
      reasoningTokens: 3,
    });
  });

  test('also adds its tokens if it fails', async () => {
    const { outer } = arrange([calls('echo', { text: 'x' }), fails('down')], { tools: [echo] });

    const { usage, messages } = await outer.run('go');

    expect(resultsIn(messages)).toEqual({ call_1: '!Agent "helper" failed: Model "scripted" failed: down' });
    expect(usage.totalTokens).toBe(3 * 15);
  });

  const failures: Readonly<Record<string, Partial<AgentOptions>>> = {
    'a rejection': { lifecycle: [{ beforeAgent: () => HookAction.reject('no') }] },
    'the turn limit': { maxTurns: 1, tools: [echo], model: scriptedModel(calls('echo', { text: 'x' })) },
    'a hook that throws': { lifecycle: [{ beforeAgent: () => Promise.reject(new Error('no')) }] },
    'a loader that fails': { loaders: [{ name: 'bad', load: () => Promise.reject(new Error('no')) }] },
    'a time-out': { model: scriptedModel([hangs()]), timeouts: { runMs: 5 } },
  };

  test.each(Object.entries(failures))(
    'returns an error result after %s, and the calling run continues',
    async (_title, helper) => {
      const { outer } = arrange(['helped'], helper);

      const { text, messages } = await outer.run('go');

      expect(text).toBe('done');
      expect(resultsIn(messages).call_1).toMatch(/^!Agent "helper" failed/);
    },
  );

  test('returns an error result if the sub-agent was closed', async () => {
    const { outer, inner } = arrange(['helped']);
    await inner.close();

    expect(resultsIn((await outer.run('go')).messages).call_1).toMatch(/^!Agent "helper" failed: .*closed/);
  });

  test('is aborted with the calling run, also if its model ignores the signal', async () => {
    const controller = new AbortController();
    const { outer, inner } = arrange([hangs({ deaf: true })]);
    const ended: unknown[] = [];
    inner.use({ onError: (error) => void ended.push(error) });

    const running = rejectionOf(outer.run('go', { signal: controller.signal }));
    await until(() => inner.status().runs === 1);
    controller.abort('enough');
    const error = (await running) as RunError;

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    expect(ended).toMatchObject([{ code: 'ERR_RUN_ABORTED' }]);
    await until(() => inner.status().runs === 0);
  });

  test('is aborted if another call of the turn ends the run', async () => {
    const { tool, inner } = arrange([hangs({ deaf: true })]);
    const end = toolOf('end', async (_input, { run }) => {
      await pause(2);
      (run as RunContext).end(HookAction.respond('enough'));
    });
    const outer = new Agent({
      model: scriptedModel([calls({ name: 'helper', input: { prompt: 'x' } }, { name: 'end' })]),
      tools: [tool, end],
    });

    expect(await within(outer.run('go'))).toMatchObject({ text: 'enough' });
    await until(() => inner.status().runs === 0);
  });

  test('is aborted after its own `timeoutMs`', async () => {
    const inner = new Agent({ name: 'helper', model: scriptedModel([hangs()]) });
    const outer = new Agent({
      model: scriptedModel([calls('helper', { prompt: 'x' }), 'done']),
      tools: [inner.asTool({ description: 'Helps.', timeoutMs: 5 })],
    });

    expect(resultsIn((await outer.run('go')).messages)).toEqual({
      call_1: '!The tool "helper" took longer than 5 ms.',
    });
    await until(() => inner.status().runs === 0);
  });

  test('works three agents deep, with the usage of all of them', async () => {
    const leaf = new Agent({ name: 'leaf', model: scriptedModel(['deep']) });
    const middle = new Agent({
      name: 'middle',
      model: scriptedModel([calls('leaf', { prompt: 'x' }), 'middle']),
      tools: [leaf.asTool({ description: '' })],
    });
    const top = new Agent({
      model: scriptedModel([calls('middle', { prompt: 'x' }), 'top']),
      tools: [middle.asTool({ description: '' })],
    });

    const result = await within(top.run('go'));

    expect(result).not.toBe(LATE);
    expect(result).toMatchObject({ text: 'top', usage: { totalTokens: 5 * 15 } });
  });
});
