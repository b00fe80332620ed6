import { Agent, type AssistantMessage } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, shortCircuit } from 'keelson/extension';
import { calls, says, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { answerOf, lab } from '../../support/extension/lab.js';

const upper: ExtensionInput = { id: 'upper', onLlmOutput: (output) => output.toUpperCase() };

describe('onPlainText', () => {
  test('S1-3.0, S1-3.1.1: receives each piece of text outside of registered tags, with a context', async () => {
    const seen: unknown[] = [];
    const plain: ExtensionInput = {
      id: 'plain',
      onPlainText(text, context) {
        seen.push([text, context.extensionId, typeof context.getState]);
        return text.toUpperCase();
      },
    };
    const tag: ExtensionInput = { id: 'tag', tags: 't', onTag: (_tag, content) => `(${content})` };
    const text = await answerOf([plain, tag], 'one <t>two</t> <b>three</b><t/>');

    expect(seen).toEqual([
      ['one ', 'plain', 'function'],
      [' <b>three</b>', 'plain', 'function'],
    ]);
    expect(text).toBe('ONE (two) <B>THREE</B>()');
  });

  test('S1-3.1.2: passes its return value to the next callback, or the old text after a failure', async () => {
    const add = (id: string): ExtensionInput => ({ id, onPlainText: (text) => `${text}${id}` });
    const throws: ExtensionInput = { id: 'bad', onPlainText: () => Promise.reject(new Error('boom')) };

    expect(await answerOf([add('1'), throws, add('2')], 'x')).toBe('x12');
    expect(await answerOf([{ id: 'stop', onPlainText: () => shortCircuit('!') }, add('2')], 'x')).toBe('!');
  });

  test('S1-3.2.1, S1-3.2.2: the context belongs to the calling extension and session', async () => {
    const seen: unknown[] = [];
    const extension = (id: string): ExtensionInput => ({
      id,
      async onPlainText(_text, { extensionId, sessionId, agent, context, turn, getState, setState, clearState }) {
        seen.push([extensionId, sessionId, await getState('k'), agent, context, turn]);
        if (extensionId === 'a') await clearState();
        else await setState('k', `${extensionId} in ${sessionId}`);
      },
    });
    const { agent } = lab([extension('a'), extension('b')], { agent: { name: 'crew' } });
    for (const id of ['s1', 's2', 's1']) await (await agent.session({ id })).run('go', { context: { id } });

    expect(seen).toEqual([
      ['a', 's1', undefined, 'crew', { id: 's1' }, 1],
      ['b', 's1', undefined, 'crew', { id: 's1' }, 1],
      ['a', 's2', undefined, 'crew', { id: 's2' }, 1],
      ['b', 's2', undefined, 'crew', { id: 's2' }, 1],
      ['a', 's1', undefined, 'crew', { id: 's1' }, 1],
      ['b', 's1', 'b in s1', 'crew', { id: 's1' }, 1],
    ]);
  });

  test('S1-3.2.3: the context lists the tools, and changes to the list have no effect', async () => {
    const names: unknown[] = [];
    const extension: ExtensionInput = {
      id: 'x',
      onPlainText(_text, { tools }) {
        names.push(tools.map(({ name }) => name));
        expect(Object.keys(tools[0] ?? {})).toEqual(['name', 'description', 'inputSchema']);
        expect(() => (tools as unknown[]).push(1)).toThrow(TypeError);
        Object.assign(tools[0]?.inputSchema ?? {}, { type: 'spoilt' });
      },
    };
    const { agent, model } = lab([extension], { agent: { tools: [echo] } });
    await agent.run('go');
    await agent.run('go');

    expect(names).toEqual([['echo'], ['echo']]);
    expect(model.requests[1]?.tools[0]?.inputSchema.type).toBe('object');
  });
});

describe('onLlmOutput', () => {
  test('S1-5.0, S1-5.1.1: is called once per model response, also if the response has only tool calls', async () => {
    const log: unknown[] = [];
    const extension: ExtensionInput = { id: 'x', onLlmOutput: (output, { turn }) => void log.push([output, turn]) };
    const { agent } = lab([extension], {
      script: [calls('echo', { text: 'a' }), streams(['one ', 'two'])],
      agent: { tools: [echo] },
    });
    for await (const event of agent.stream('go')) if (event.type === 'model-end') log.push('end');

    expect(log).toEqual([['', 1], 'end', ['one two', 2], 'end']);
  });

  test('S1-5.1.2, S1-5.2.1: the returned output replaces the response for hooks, history and result', async () => {
    const seen: string[] = [];
    const { agent } = lab([upper], {
      script: [says('look', { calls: [{ name: 'echo', input: { text: 'a' } }] }), says('done')],
      agent: { tools: [echo], lifecycle: [{ afterAgent: (text) => void seen.push(text) }] },
    });
    agent.on('model-end', ({ response }) => void seen.push(JSON.stringify(response?.content[0])));
    const { text, messages } = await agent.run('go');

    expect(text).toBe('DONE');
    expect(seen).toEqual(['{"type":"text","text":"LOOK"}', '{"type":"text","text":"DONE"}', 'DONE']);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(JSON.stringify(messages)).not.toMatch(/look|done/);
  });

  test('S1-5.1.2: a stream sends the new output, and nothing of the original', async () => {
    const { agent } = lab([upper, { id: 't', tags: 'SECRET', onTag: () => '***' }], {
      script: [streams(['my <sec', 'ret>ab', 'c</secret>'])],
    });
    const deltas: string[] = [];
    for await (const event of agent.stream('go')) if (event.type === 'text-delta') deltas.push(event.text);

    expect(deltas).toEqual(['MY ***']);
  });

  test('S1-5.2.2: logs the original output together with the new output', async () => {
    const { agent, logger } = lab([upper]);
    await (await agent.session({ id: 's' })).run('go');

    expect(logger.records.filter(({ level }) => level === 'debug').map(({ details }) => details)).toEqual([
      { session: 's', original: 'Aye.', modified: 'AYE.' },
    ]);
  });

  test('S1-5.2.3: adds metadata to the response and the result, by extension id', async () => {
    const note = (id: string, output?: string): ExtensionInput => ({
      id,
      onLlmOutput: () => ({ output, metadata: { by: id } }),
    });
    const bad: ExtensionInput = { id: 'bad', onLlmOutput: () => ({ metadata: new Map() }) as never };
    const { agent, logger } = lab([note('constructor'), note('b', 'new'), bad]);
    const { text, annotations } = await agent.run('go');

    expect({ text, annotations }).toEqual({
      text: 'new',
      annotations: { constructor: { by: 'constructor' }, b: { by: 'b' } },
    });
    expect(logger.records.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  test('ends the run with shortCircuit: no later callback, tool call or model call follows', async () => {
    const log: string[] = [];
    const { agent, model } = lab(
      [
        { id: 'notes', onLlmOutput: () => ({ metadata: 1 }) },
        { id: 'stop', onLlmOutput: () => shortCircuit('stopped') },
        { id: 'later', onLlmOutput: () => void log.push('later'), onPlainText: () => void log.push('plain') },
      ],
      { script: [says('secret', { calls: [{ name: 'echo', input: { text: 'a' } }] })], agent: { tools: [echo] } },
    );
    const { text, messages, annotations, decisions } = await agent.run('go');

    expect({ text, annotations, log }).toEqual({ text: 'stopped', annotations: { notes: 1 }, log: [] });
    expect(JSON.stringify(messages)).not.toContain('secret');
    expect(model.requests).toHaveLength(1);
    expect(decisions).toContainEqual(expect.objectContaining({ type: 'respond', by: 'stop' }));
  });

  test.each([null, 5, [], {}, { output: 'x' }, { output: 1, metadata: 1 }])(
    'ignores an onLlmOutput callback that returns %j',
    async (result) => {
      expect(await answerOf([{ id: 'bad', onLlmOutput: () => result as never }, upper], 'x')).toBe('X');
    },
  );

  test('fails if shortCircuit gets a value that is not a string', async () => {
    const bad = {
      id: 'bad',
      onInputMessages: () => shortCircuit(5 as never),
      onPlainText: () => shortCircuit(null as never),
    };
    const { agent, logger } = lab([bad]);

    expect((await agent.run('go')).text).toBe('Aye.');
    expect(logger.records.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      expect.stringContaining('onInputMessages failed'),
      expect.stringContaining('onPlainText failed'),
    ]);
  });

  test('adds text after the reasoning of a response without text, and removes a text part that becomes empty', async () => {
    const wrap: ExtensionInput = { id: 'w', onLlmOutput: (output) => (output === '' ? 'Calling.' : '') };
    const { agent } = lab([wrap], {
      script: [
        says('', { reasoning: 'hm', calls: [{ name: 'echo', input: { text: 'a' } }] }),
        says('x', { reasoning: 'hm' }),
      ],
      agent: { tools: [echo] },
    });
    const { messages, text } = await agent.run('go');
    const shown = [1, 3].map((at) => (messages[at] as AssistantMessage).content.map(({ type }) => type));

    expect(shown).toEqual([['reasoning', 'text', 'tool-call'], ['reasoning']]);
    expect(text).toBe('');
  });

  test('R34: runs before onTag, and onTag runs before onPlainText', async () => {
    const all: ExtensionInput = {
      id: 'all',
      onLlmOutput: (output) => `${output}<t>2</t>`,
      tags: 't',
      onTag: (_tag, content) => `(${content})`,
      onPlainText: (text) => text.replaceAll(/\d/g, '#'),
    };

    expect(await answerOf([all], '1')).toBe('#(2)');
  });
});

test('concurrent runs share no callback data', async () => {
  const registry = new ExtensionRegistry();
  registry.register({
    id: 'x',
    async onInputMessages(messages, { setState }) {
      await setState('asked', messages[0]?.content);
    },
    async onLlmOutput(output, { getState }) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      return `${output} ${await getState('asked')}`;
    },
  });
  const model = scriptedModel(({ messages }) => says(`re ${messages[0]?.content}:`), { perRun: true });
  const agent = new Agent({ model, loaders: [registry] });
  const texts = await Promise.all(Array.from({ length: 50 }, async (_, i) => (await agent.run(`${i}`)).text));

  expect(texts).toEqual(Array.from({ length: 50 }, (_, i) => `re ${i}: ${i}`));
});
