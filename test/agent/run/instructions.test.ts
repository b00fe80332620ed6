import { Agent, handoff } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';

const systemOf = ({ requests }: ReturnType<typeof scriptedModel>) =>
  requests.map(({ messages }) => messages.filter(({ role }) => role === 'system').map(({ content }) => content));

describe('instructions that are a function', () => {
  test('are called once in a run, with the run', async () => {
    let count = 0;
    const model = scriptedModel([calls('echo', { text: 'x' }), 'one', 'two']);
    const agent = new Agent<{ user: string }>({
      model,
      tools: [echo],
      instructions: ({ context, messages }) => `${context.user} ${++count}, ${messages.length} before`,
    });

    const first = await agent.run('go', { context: { user: 'Ada' } });
    await agent.run('on', { context: { user: 'Bo' }, messages: first.history });

    expect(systemOf(model)).toEqual([['Ada 1, 0 before'], ['Ada 1, 0 before'], ['Bo 2, 4 before']]);
    expect(first.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('are visible to hooks, and an empty string means none', async () => {
    const seen: unknown[] = [];
    const model = scriptedModel(['done', 'done']);
    const lifecycle = [
      { beforeAgent: (_: string, run: { instructions?: string | undefined }) => void seen.push(run.instructions) },
    ];
    let text = 'Be brief.';
    const agent = new Agent({ model, lifecycle, instructions: () => text });

    await agent.run('go');
    text = '';
    await agent.run('go');

    expect(seen).toEqual(['Be brief.', undefined]);
    expect(systemOf(model)).toEqual([['Be brief.'], []]);
  });

  test('of each agent apply while it has the run', async () => {
    const answering = scriptedModel(['done']);
    const second = new Agent({ name: 'second', model: answering, instructions: (run) => `second, turn ${run.turn}` });
    const over = handoff(second, { name: 'to_second', description: 'Hands over.' });
    const start = new Agent({
      name: 'start',
      model: scriptedModel([calls('to_second')]),
      instructions: () => 'start',
      tools: [over],
    });

    await start.run('go');

    expect(systemOf(answering)).toEqual([['second, turn 1']]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new RangeError('no name');
      },
      { message: 'no name' },
    ],
    ['returns no string', () => 5 as unknown as string, { code: 'ERR_OPTION_INVALID', option: 'instructions' }],
  ])('that %s ends the run', async (_title, instructions, expected) => {
    expect(await rejectionOf(new Agent({ model: scriptedModel([]), instructions }).run('go'))).toMatchObject(expected);
  });
});
