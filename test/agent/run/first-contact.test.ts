import { Agent, type AgentLifecycle, defineTool, HookAction } from 'keelson';
import { calls, fails, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';

const model = scriptedModel(() => 'done');
const agent = new Agent({ model });
const untyped = (value: unknown) => value as never;
const tool = { name: 'add', description: 'Adds.', execute: () => 'done' };
const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('a name from another library causes an error with the right name', () => {
  test.each<[string, () => unknown, string]>([
    ['defineTool({ parameters })', () => defineTool(untyped({ ...tool, parameters: z.object({}) })), 'use `input`'],
    ['defineTool({ handler })', () => defineTool(untyped({ ...tool, input: z.object({}), handler() {} })), '`execute`'],
    [
      'tools by name',
      () => new Agent({ model, tools: untyped({ add: toolOf('add', () => 'done') }) }),
      'Object.values(tools)',
    ],
    ['one tool', () => new Agent({ model, tools: untyped(toolOf('add', () => 'done')) }), 'pass `tools: [add]`'],
    ['new Agent({ system })', () => new Agent(untyped({ model, system: 'Hi' })), 'use `instructions`'],
    ['new Agent({ middleware })', () => new Agent(untyped({ model, middleware: [] })), 'use `lifecycle`'],
    ['new Agent({ temperature })', () => new Agent(untyped({ model, temperature: 1 })), 'use `settings.temperature`'],
    ['new Agent({ runMs })', () => new Agent(untyped({ model, runMs: 1 })), 'use `timeouts.runMs`'],
    ['stream.textStream', () => (agent.stream('Hi') as unknown as { textStream: unknown }).textStream, 'use `text`'],
  ])('%s', (_habit, act, advice) => {
    expect(thrownBy(act)).toMatchObject({
      name: expect.stringContaining('Error'),
      message: expect.stringContaining(advice),
    });
  });

  test.each<[string, unknown, string]>([
    ['run([message])', [{ role: 'user', content: 'Hi' }], "run('', { messages })"],
    ['run({ messages })', { messages: [] }, "run('', { messages })"],
    ['run({ prompt })', { prompt: 'Hi' }, '`run(prompt, options)`'],
    ['run(undefined)', undefined, 'a string, or a message of role "user", got undefined'],
    ['run(assistant message)', { role: 'assistant', content: [] }, 'role "user"'],
  ])('%s', async (_habit, input, advice) => {
    const error = await rejectionOf(agent.run(untyped(input)));
    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID', message: expect.stringContaining(advice) });
  });

  test('run(input, { maxSteps })', async () => {
    expect(await rejectionOf(agent.run('Hi', untyped({ maxSteps: 3 })))).toMatchObject({
      message: expect.stringContaining('use `maxTurns`'),
    });
  });
});

describe('stream.text', () => {
  const textOf = async (made: Agent) => {
    let text = '';
    for await (const piece of made.stream('go').text) text += piece;
    return text;
  };

  test('has only the text of every turn', async () => {
    const script = [streams(['Let me ', 'look. '], calls({ id: 'c1', name: 'add', input: {} })), 'Found.'];
    expect(await textOf(new Agent({ model: scriptedModel(script), tools: [toolOf('add', () => 'done')] }))).toBe(
      'Let me look. Found.',
    );
  });

  test.each<[string, AgentLifecycle]>([
    ['beforeAgent', { beforeAgent: () => HookAction.respond('closed') }],
    ['beforeModel', { beforeModel: () => HookAction.respond('closed') }],
    [
      'wrapModelCall',
      { wrapModelCall: async () => ({ ...(await scriptedModel(['closed']).generate({ messages: [], tools: [] })) }) },
    ],
    ['run.end', { beforeModel: (_messages, run) => run.end(HookAction.respond('closed')) }],
  ])('has the answer of a lifecycle in %s', async (_point, lifecycle) => {
    expect(await textOf(new Agent({ model: scriptedModel([]), lifecycle: [lifecycle] }))).toBe('closed');
  });

  test('throws the error of a run that fails', async () => {
    expect(await rejectionOf(textOf(new Agent({ model: scriptedModel([fails()]) })))).toMatchObject({
      code: 'ERR_MODEL_FAILED',
    });
  });

  test('aborts the run when the consumer leaves', async () => {
    const stream = new Agent({ model: scriptedModel([streams(['a', 'b', 'c'])]) }).stream('go');
    for await (const piece of stream.text) {
      expect(piece).toBe('a');
      break;
    }
    expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  });
});

test('a stream emits the arguments of a call while the model writes them', async () => {
  const delta = (text: string) => ({ type: 'tool-input-delta', id: 'c1', name: 'add', text }) as const;
  const script = [streams([delta('{"a"'), delta(':1}')], calls({ id: 'c1', name: 'add', input: { a: 1 } })), 'Done.'];
  const told: unknown[] = [];
  for await (const event of new Agent({ model: scriptedModel(script), tools: [toolOf('add', () => 'done')] }).stream(
    'go',
  )) {
    if (event.type === 'tool-input-delta') told.push([event.callId, event.name, event.turn, event.text]);
  }
  expect(told).toEqual([
    ['c1', 'add', 1, '{"a"'],
    ['c1', 'add', 1, ':1}'],
  ]);
});
