import { expect } from 'vitest';
import { z } from 'zod';
import type { Agent } from '../../src/agent/agent.js';
import type { AgentOptions } from '../../src/agent/agent-options.js';
import type { Message } from '../../src/model/message.js';
import { calls, fails, hangs, responds, says, scriptedModel, streams } from '../../src/testing/testing.js';
import { defineTool } from '../../src/tools/define-tool.js';
import { createToolSet } from '../../src/tools/tool-set.js';

/** What an agent did before there were hooks. This file knows none: its hash is checked, and it must hold whatever hooks there are. */
export type BaseCase = readonly [title: string, run: (makeAgent: MakeAgent) => Promise<void>];

/** Makes the agent under test. */
export type MakeAgent = (options: AgentOptions) => Agent;

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather.',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: (input) => ({ ...(input as object), degrees: 21 }),
});
const broken = defineTool({
  name: 'broken',
  description: 'Never works.',
  input: z.object({}),
  execute: () => {
    throw new TypeError('out of order');
  },
});
const slow = defineTool({
  name: 'slow',
  description: 'Takes too long.',
  input: z.object({}),
  timeoutMs: 5,
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
});

const asked: Message = { role: 'user', content: 'Hello' };

function said(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] };
}

function called(name: string, input: unknown, id = 'call_1'): Message {
  return { role: 'assistant', content: [{ type: 'tool-call', id, name, input }] };
}

function answered(name: string, content: unknown, more: object = {}): unknown {
  return { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', name, content, ...more }] };
}

const sum = { a: 1, b: 2 };

const answers: readonly BaseCase[] = [
  [
    'an answer is the text, the output, one turn and the messages',
    async (makeAgent) => {
      const result = await makeAgent({ model: scriptedModel(['Hi']) }).run('Hello');

      expect(result).toEqual({
        ...{
          status: 'completed',
          text: 'Hi',
          output: 'Hi',
          turns: 1,
          finishReason: 'stop',
          pending: [],
          decisions: [],
        },
        ...{ messages: [asked, said('Hi')], history: [asked, said('Hi')] },
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      });
    },
  ],
  [
    'the model is sent the instructions, the input, the tools and the settings',
    async (makeAgent) => {
      const model = scriptedModel(['Hi']);
      const settings = { temperature: 0, seed: 7 };
      const options = {
        instructions: 'Be kind.',
        tools: [weather],
        settings: { ...settings, toolChoice: 'none' as const },
      };
      await makeAgent({ model, ...options }).run('Hello');

      const { name, description, inputSchema } = weather;
      expect(model.requests).toMatchObject([
        {
          messages: [{ role: 'system', content: 'Be kind.' }, asked],
          ...{ tools: [{ name, description, inputSchema }], toolChoice: 'none', settings },
        },
      ]);
    },
  ],
  [
    'a conversation goes on from its messages',
    async (makeAgent) => {
      const model = scriptedModel(['Again']);
      const before = [asked, said('Hi')];
      const result = await makeAgent({ model }).run('And now?', { messages: before });

      const next: Message = { role: 'user', content: 'And now?' };
      expect(model.requests[0]?.messages).toEqual([...before, next]);
      expect([result.messages, result.history]).toEqual([
        [next, said('Again')],
        [...before, next, said('Again')],
      ]);
    },
  ],
  [
    'an answer that must match a schema is checked, and repaired once',
    async (makeAgent) => {
      const model = scriptedModel(['{"n": "x"}', '{"n": 7}']);
      const result = await makeAgent({ model }).run('Hello', { output: z.object({ n: z.number() }) });

      expect([result.output, result.turns]).toEqual([{ n: 7 }, 2]);
      expect(model.requests[1]?.messages).toHaveLength(3);
    },
  ],
  [
    'an answer may come in parts: the text is what was said, without what was thought',
    async (makeAgent) => {
      const content = [{ type: 'reasoning', text: 'hm' }, ...['It ', 'is.'].map((text) => ({ type: 'text', text }))];
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const model = scriptedModel([responds({ content, finishReason: 'stop', usage })]);
      const { text, messages } = await makeAgent({ model }).run('Hello');

      expect([text, messages]).toEqual(['It is.', [asked, { role: 'assistant', content }]]);
    },
  ],
];

const tools: readonly BaseCase[] = [
  [
    'a tool is called with its arguments, and the model gets its result',
    async (makeAgent) => {
      const model = scriptedModel([calls('add', sum), '3']);
      const result = await makeAgent({ model, tools: [add] }).run('Hello');

      expect(model.requests[1]?.messages).toEqual([asked, called('add', sum), answered('add', '3')]);
      expect([result.text, result.turns, result.usage.totalTokens]).toEqual(['3', 2, 30]);
    },
  ],
  [
    'a tool may return data, and be described by a JSON Schema',
    async (makeAgent) => {
      const model = scriptedModel([calls('weather', { city: 'Oslo' }), 'Mild']);
      await makeAgent({ model, tools: [weather] }).run('Hello');

      const structured = { city: 'Oslo', degrees: 21 };
      const result = answered('weather', '{"city":"Oslo","degrees":21}', { structured });
      expect(model.requests[1]?.messages.at(-1)).toEqual(result);
    },
  ],
  [
    'several calls of a turn give one message, in the order of the calls',
    async (makeAgent) => {
      const model = scriptedModel([
        calls(
          { name: 'add', input: sum },
          { name: 'weather', input: { city: 'Oslo' } },
          { name: 'add', input: { a: 2, b: 2 } },
        ),
        'done',
      ]);
      const { messages } = await makeAgent({ model, tools: createToolSet([add, weather]) }).run('Hello');

      expect(messages[2]?.content).toMatchObject([
        { id: 'call_1', content: '3' },
        { id: 'call_2', content: '{"city":"Oslo","degrees":21}' },
        { id: 'call_3', content: '4' },
      ]);
    },
  ],
  [
    'a tool that throws gives an error result, and the run goes on',
    async (makeAgent) => {
      const model = scriptedModel([calls('broken'), 'Sorry']);
      const { text } = await makeAgent({ model, tools: [broken] }).run('Hello');

      expect(text).toBe('Sorry');
      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('broken', 'out of order', { isError: true }));
    },
  ],
  [
    'a tool that takes too long gives an error result',
    async (makeAgent) => {
      const model = scriptedModel([calls('slow'), 'Sorry']);
      await makeAgent({ model, tools: [slow] }).run('Hello');

      const text = expect.stringContaining('longer than 5 ms');
      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('slow', text, { isError: true }));
    },
  ],
  [
    'a tool that does not exist gives an error result with the tools there are',
    async (makeAgent) => {
      const model = scriptedModel([calls('subtract'), 'Sorry']);
      await makeAgent({ model, tools: [add, broken] }).run('Hello');

      const text = 'There is no tool "subtract". Tools: add, broken.';
      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('subtract', text, { isError: true }));
    },
  ],
  [
    'arguments that do not match give an error result, and the tool is not run',
    async (makeAgent) => {
      const model = scriptedModel([calls('add', { a: 'one', b: 2 }), 'Sorry']);
      await makeAgent({ model, tools: [add] }).run('Hello');

      const text = expect.stringMatching(/^The arguments of "add" are not valid: a: /);
      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('add', text, { isError: true }));
    },
  ],
  [
    'arguments that are no JSON give an error result',
    async (makeAgent) => {
      const model = scriptedModel([calls({ name: 'add', invalidInput: '{"a": 1' }), 'Sorry']);
      await makeAgent({ model, tools: [add] }).run('Hello');

      const text = 'The arguments of "add" are no JSON: {"a": 1';
      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('add', text, { isError: true }));
    },
  ],
  [
    'a tool gets the context and the name of its call',
    async (makeAgent) => {
      const whoami = defineTool({
        name: 'whoami',
        description: 'Says who asks.',
        input: z.object({}),
        execute: (_, { context, callId, toolName, run }) =>
          JSON.stringify([context, callId, toolName, run.agent, run.turn]),
      });
      const model = scriptedModel([calls('whoami'), 'done']);
      await makeAgent({ model, tools: [whoami], name: 'helper' }).run('Hello', { context: 'me' });

      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('whoami', '["me","call_1","whoami","helper",1]'));
    },
  ],
  [
    'an agent may be a tool of another',
    async (makeAgent) => {
      const inner = makeAgent({ model: scriptedModel(['inner answer']), name: 'inner' });
      const model = scriptedModel([calls('inner', { prompt: 'Go' }), 'done']);
      const { usage } = await makeAgent({ model, tools: [inner.asTool({ description: 'Helps.' })] }).run('Hello');

      expect(model.requests[1]?.messages.at(-1)).toEqual(answered('inner', 'inner answer'));
      expect(usage.totalTokens).toBe(45);
    },
  ],
];

const ends: readonly BaseCase[] = [
  [
    'a model that fails ends the run with a ModelError that carries the messages',
    async (makeAgent) => {
      const cause = Object.assign(new TypeError('overloaded'), { status: 503 });
      const run = makeAgent({ model: scriptedModel([calls('add', sum), fails(cause)]), tools: [add] }).run('Hello');

      await expect(run).rejects.toMatchObject({
        ...{ code: 'ERR_MODEL_FAILED', cause, status: 503, retryable: true },
        messages: [asked, called('add', sum), answered('add', '3')],
        usage: { totalTokens: 15 },
      });
    },
  ],
  [
    'an abort ends the run while the model is asked',
    async (makeAgent) => {
      const controller = new AbortController();
      const model = scriptedModel([
        () => {
          controller.abort('enough');
          return hangs();
        },
      ]);
      const run = makeAgent({ model }).run('Hello', { signal: controller.signal });

      await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough', messages: [asked] });
    },
  ],
  [
    'a run that reaches its last turn ends with what it has, or is asked for an answer without tools',
    async (makeAgent) => {
      const run = makeAgent({ model: scriptedModel([calls('add', sum)]), tools: [add], maxTurns: 1 }).run('Hello');
      await expect(run).rejects.toMatchObject({ code: 'ERR_TURN_LIMIT', messages: [asked, called('add', sum), {}] });

      const model = scriptedModel([calls('add', sum), 'At last']);
      const agent = makeAgent({ model, tools: [add], maxTurns: { limit: 1, atLimit: 'answer' } });
      expect((await agent.run('Hello')).text).toBe('At last');
      expect(model.requests[1]).toMatchObject({ tools: [], toolChoice: 'none' });
    },
  ],
  [
    'a response that was cut off does not run its last call',
    async (makeAgent) => {
      const cut = says('', { calls: [{ name: 'add', input: sum }], finishReason: 'length' });
      const { messages } = await makeAgent({ model: scriptedModel([cut, 'done']), tools: [add] }).run('Hello');

      expect(messages[2]).toEqual(answered('add', expect.stringContaining('cut off'), { isError: true }));
    },
  ],
  [
    'a response that is none ends the run with a ModelError',
    async (makeAgent) => {
      const model = { id: 'bad', generate: async () => ({ text: 'Hi' }) as never };

      await expect(makeAgent({ model }).run('Hello')).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED', model: 'bad' });
    },
  ],
];

const surroundings: readonly BaseCase[] = [
  [
    'a stream tells everything that happens, in order',
    async (makeAgent) => {
      const model = scriptedModel([calls('add', sum), streams(['It is ', '3.'])]);
      const stream = makeAgent({ model, tools: [add] }).stream('Hello');
      const told: string[] = [];
      for await (const event of stream) told.push('text' in event ? event.text : event.type);

      expect(told).toEqual([
        ...['run-start', 'turn-start', 'model-start', 'model-end', 'tool-start', 'tool-end', 'turn-end'],
        ...['turn-start', 'model-start', 'It is ', '3.', 'model-end', 'turn-end', 'run-end'],
      ]);
      expect((await stream.result).text).toBe('It is 3.');
    },
  ],
  [
    'a listener is told of every run, until it is taken off',
    async (makeAgent) => {
      const texts: unknown[] = [];
      const agent = makeAgent({ model: scriptedModel(({ messages }) => `re ${messages.at(-1)?.content}`) });
      const listener = ({ result }: { readonly result?: { readonly text: string } | undefined }) =>
        void texts.push(result?.text);
      agent.on('run-end', listener);
      await agent.run('one');
      await agent.run('two');
      agent.off('run-end', listener);
      await agent.run('three');

      expect(texts).toEqual(['re one', 're two']);
    },
  ],
  [
    'a session remembers',
    async (makeAgent) => {
      const model = scriptedModel(['Hi', 'Again']);
      const session = await makeAgent({ model, instructions: 'Be kind.' }).session({ id: 's' });
      await session.run('Hello');
      await session.run('Hello');
      await session.close();

      expect(model.requests[1]?.messages).toEqual([{ role: 'system', content: 'Be kind.' }, asked, said('Hi'), asked]);
      expect(session.messages).toEqual([asked, said('Hi'), asked, said('Again')]);
    },
  ],
  [
    'runs over one agent go side by side',
    async (makeAgent) => {
      const model = scriptedModel([calls('add', sum), ({ messages }) => `re ${messages[0]?.content}`], {
        perRun: true,
      });
      const agent = makeAgent({ model, tools: [add] });
      const results = await Promise.all(['a', 'b', 'c'].map((input) => agent.run(input)));

      expect(results.map(({ text }) => text)).toEqual(['re a', 're b', 're c']);
    },
  ],
  [
    'a run may have a model, tools and settings of its own',
    async (makeAgent) => {
      const model = scriptedModel([calls('add', sum), '3'], { id: 'other' });
      const agent = makeAgent({ model: scriptedModel([]), tools: [broken], settings: { temperature: 1, seed: 7 } });
      const { text } = await agent.run('Hello', { model, tools: [add], settings: { temperature: 0 } });

      expect(text).toBe('3');
      expect(model.requests[0]).toMatchObject({ tools: [{ name: 'add' }], settings: { temperature: 0, seed: 7 } });
    },
  ],
];

/** Every case. */
export const baseSuite: readonly BaseCase[] = [...answers, ...tools, ...ends, ...surroundings];
