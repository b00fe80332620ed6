import { Agent, type UserMessage } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';

const picture = { type: 'image', image: 'https://example.com/a.png' } as const;
const bytes = { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' } as const;
const paper = { type: 'file', data: 'JVBERi0=', mediaType: 'application/pdf', filename: 'a.pdf' } as const;
const said = (text: string) => ({ type: 'text', text }) as const;

/** Runs an agent whose beforeAgent returns `to(input)`. Returns the inputs of the hook and the first message. */
async function sent(message: UserMessage | string, to?: (input: string) => string | undefined): Promise<unknown> {
  const model = scriptedModel(['done']);
  const inputs: string[] = [];
  const agent = new Agent({
    model,
    lifecycle: [
      {
        beforeAgent(input) {
          inputs.push(input);
          return to?.(input);
        },
      },
    ],
  });
  const { messages } = await agent.run(message);
  expect(messages[0]).toEqual(model.requests[0]?.messages[0]);
  return { inputs, message: messages[0] };
}

describe('a user message with images and files', () => {
  const content = [said('Look at '), picture, said('and'), bytes, paper];
  const message: UserMessage = { role: 'user', content };

  test('is sent to the model unchanged, and hooks get its text', async () => {
    expect(await sent(message)).toEqual({ inputs: ['Look at and'], message });
  });

  test('does not change if a hook returns the same text', async () => {
    expect(await sent(message, (input) => input)).toMatchObject({ message });
  });

  test('keeps its images and files if a hook changes its text', async () => {
    expect(await sent(message, () => 'Describe')).toMatchObject({
      message: { role: 'user', content: [said('Describe'), picture, bytes, paper] },
    });
  });

  test('is not changed in place by a hook that changes its text', async () => {
    const before = structuredClone(message);

    await sent(message, () => 'Describe');

    expect(message).toEqual(before);
  });

  test('without text gets the text of a hook', async () => {
    expect(await sent({ role: 'user', content: [picture] }, (input) => `${input}!`)).toEqual({
      inputs: [''],
      message: { role: 'user', content: [said('!'), picture] },
    });
  });
});

describe('a run without a message', () => {
  const before = [{ role: 'user', content: 'before' }] as const;

  test('gets a message only if a hook returns a text', async () => {
    const model = scriptedModel('done');
    const asking = (text: string | undefined) => new Agent({ model, lifecycle: [{ beforeAgent: () => text }] });

    for (const text of ['now', '', undefined]) await asking(text).run('', { messages: before });

    expect(model.requests.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['before', 'now'],
      ['before'],
      ['before'],
    ]);
  });
});

describe('a user message of text', () => {
  test('has the same effect as a string, as a message, or as parts', async () => {
    expect(await sent('hi', () => 'ho')).toMatchObject({ message: { role: 'user', content: 'ho' } });
    expect(await sent({ role: 'user', content: 'hi' }, () => 'ho')).toMatchObject({
      message: { role: 'user', content: 'ho' },
    });
    expect(await sent({ role: 'user', content: [said('h'), said('i')] }, () => 'ho')).toEqual({
      inputs: ['hi'],
      message: { role: 'user', content: [said('ho')] },
    });
  });

  test('may be changed to an empty text', async () => {
    expect(await sent('hi', () => '')).toMatchObject({ message: { role: 'user', content: '' } });
  });

  test('is in run-start as passed to `run`, before any hook', async () => {
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [{ beforeAgent: () => 'rewritten' }] });
    const inputs: string[] = [];
    agent.on('run-start', ({ input }) => void inputs.push(input));

    await agent.run({ role: 'user', content: [said('as it '), picture, said('came')] });

    expect(inputs).toEqual(['as it came']);
  });
});
