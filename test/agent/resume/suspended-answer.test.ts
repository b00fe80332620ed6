import { Agent, type AgentLifecycle, HookAction, MemorySessionStore, type Message, messagesOf } from 'keelson';
import { openRun, sealRun } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

/** Suspends each answer that contains the word. */
function holds(word: string): AgentLifecycle {
  return {
    name: 'editor',
    afterModel: (response) =>
      JSON.stringify(response.content).includes(word) ? HookAction.suspend('read it first') : undefined,
  };
}

function editorOf(answers: readonly string[], more: AgentLifecycle[] = []) {
  const model = scriptedModel(answers);
  return { agent: new Agent({ model, lifecycle: [holds('draft'), ...more] }), model };
}

const copyOf = (messages: readonly Message[]): Message[] => JSON.parse(JSON.stringify(messages));

describe('an answer that a hook suspended', () => {
  test('is listed in `pending`', async () => {
    const { agent } = editorOf(['a draft']);
    const { status, text, pending } = await agent.run('Write.');

    expect({ status, text }).toEqual({ status: 'suspended', text: 'a draft' });
    expect(pending).toEqual([{ type: 'answer', id: 'answer', text: 'a draft', reason: 'read it first', by: 'editor' }]);
  });

  test('becomes the answer if it is approved, without another model call', async () => {
    const ends: string[] = [];
    const { agent, model } = editorOf(['a draft'], [{ afterAgent: (text) => void ends.push(text) }]);
    const first = await agent.run('Write.');
    const second = await agent.run('', { messages: copyOf(first.history), resume: { answer: 'approve' } });

    expect(second).toMatchObject({ status: 'completed', text: 'a draft', turns: 0, messages: [] });
    expect(second.decisions).toMatchObject([{ type: 'approve', by: 'resume', point: 'resume' }]);
    expect(transcript(second.history)).toEqual(['user: Write.', 'assistant: a draft']);
    expect(second.history.at(-1)).not.toHaveProperty('suspended');
    expect(second.history.at(-1)).not.toHaveProperty('denied');
    expect(ends).toEqual(['a draft', 'a draft']);
    expect(model.requests).toHaveLength(1);
  });

  test('is denied on record together with the message that tells the model', async () => {
    const store = new MemorySessionStore();
    const appends: string[][] = [];
    const watched = storeOver(store, {
      append: (id, append) => {
        appends.push(append.entries.map(({ body }) => body.type));
        return store.append(id, append);
      },
    });
    const model = scriptedModel(['a draft', 'short']);
    const session = await new Agent({ model, lifecycle: [holds('draft')], store: watched }).session();
    await session.run('Write.');

    await session.run('', { resume: { answer: 'deny' } });

    expect(appends.find((types) => types.includes('decision'))).toEqual(['decision', 'message']);
  });

  test.each([
    ['deny', 'The answer was denied. Answer again.'],
    [{ deny: 'too long' }, 'The answer was denied: too long. Answer again.'],
  ] as const)('makes the model answer again if it is denied: %j', async (answer, told) => {
    const { agent } = editorOf(['a draft', 'short']);
    const first = await agent.run('Write.');
    const second = await agent.run('', { messages: first.history, resume: { answer } });

    expect(second).toMatchObject({ status: 'completed', text: 'short', turns: 1 });
    expect(transcript(second.history)).toEqual([
      'user: Write.',
      'assistant: a draft',
      `user: ${told}`,
      'assistant: short',
    ]);
    expect(second.history[1]).not.toHaveProperty('suspended');
    expect(second.history[1]).toMatchObject({ denied: true });
    expect(second.history[3]).not.toHaveProperty('denied');
  });

  test('may be denied several times, until the documented loop ends', async () => {
    const { agent } = editorOf(['draft 1', 'draft 2', 'done']);
    let result = await agent.run('Write.');
    let rounds = 0;
    while (result.status === 'suspended') {
      const resume = Object.fromEntries(result.pending.map(({ id }) => [id, 'deny' as const]));
      result = await agent.run('', { messages: result.history, resume });
      rounds += 1;
    }

    expect({ rounds, text: result.text }).toEqual({ rounds: 2, text: 'done' });
  });

  test('is followed by a message that is passed with the approval', async () => {
    const { agent, model } = editorOf(['a draft', 'fine']);
    const { history } = await agent.run('Write.');
    const { text } = await agent.run('Now in French.', { messages: history, resume: { answer: 'approve' } });

    expect(text).toBe('fine');
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: Write.',
      'assistant: a draft',
      'user: Now in French.',
    ]);
  });

  test('is checked against `output` when it is approved', async () => {
    const { agent } = editorOf(['draft {', '{"a":1}']);
    const output = { type: 'object', required: ['a'] } as const;
    const { history } = await agent.run('Write.', { output });
    const second = await agent.run('', { messages: history, resume: { answer: 'approve' }, output });

    expect(second).toMatchObject({ status: 'completed', output: { a: 1 }, turns: 1 });
  });

  test('is streamed when it is approved', async () => {
    const { agent } = editorOf(['a draft']);
    const { history } = await agent.run('Write.');
    const stream = agent.stream('', { messages: history, resume: { answer: 'approve' } });
    let text = '';
    for await (const piece of stream.text) text += piece;

    expect(text).toBe('a draft');
  });

  test('does not give `beforeAgent` an empty text', async () => {
    const polite: AgentLifecycle = { beforeAgent: (text) => `${text} Please.` };
    const { agent } = editorOf(['a draft'], [polite]);
    const { history } = await agent.run('Write.');
    const second = await agent.run('', { messages: history, resume: { answer: 'approve' } });

    expect(transcript(second.history)).toEqual(['user: Write. Please.', 'assistant: a draft']);
  });
});

describe('an approved answer', () => {
  test('is followed by the reply to messages that were added after it', async () => {
    const { agent, model } = editorOf(['a draft', 'and a reply']);
    const { history } = await agent.run('Write.');
    const messages = [...history, { role: 'user', content: 'One more thing.' } as const];
    const second = await agent.run('', { messages, resume: { answer: 'approve' } });

    expect(second.text).toBe('and a reply');
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: Write.',
      'assistant: a draft',
      'user: One more thing.',
    ]);
  });
});

describe('decisions on an answer', () => {
  test.each([
    ['no decision', {}, /end in a suspended answer.*"answer"/],
    ['a decision on something else', { answer: 'approve', other: 'deny' }, /not open: "other"/],
    ['an unknown decision', { answer: 'yes' }, /must be 'approve', 'deny'/],
  ])('%s is refused', async (_what, resume, message) => {
    const { agent } = editorOf(['a draft']);
    const { history } = await agent.run('Write.');

    for (const input of ['', 'Go on.']) {
      const error = await rejectionOf(agent.run(input, { messages: history, resume }));
      expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', message: expect.stringMatching(message) });
    }
  });

  test('are refused if the last answer was not suspended', async () => {
    const { agent } = editorOf(['fine']);
    const { history } = await agent.run('Write.');

    expect(await rejectionOf(agent.run('', { messages: history, resume: { answer: 'approve' } }))).toMatchObject({
      code: 'ERR_RESUME_INVALID',
    });
  });
});

describe('in a session', () => {
  test.each(['approve', 'deny'] as const)(
    'the decision %s is saved, also if another process resumes',
    async (answer) => {
      const store = new MemorySessionStore();
      const open = (answers: readonly string[], its = store) =>
        new Agent({ model: scriptedModel(answers), store: its, lifecycle: [holds('draft')] }).session({ id: 's' });
      const first = await (await open(['a draft'])).run('Write.');
      expect(first.status).toBe('suspended');

      const elsewhere = await open(['short'], storeOver(store, {}) as MemorySessionStore);
      const { text } = await elsewhere.run('', { resume: { answer } });
      const stored = messagesOf((await store.load('s'))?.entries ?? []);

      expect(text).toBe(answer === 'approve' ? 'a draft' : 'short');
      expect(stored).toEqual(elsewhere.messages);
      expect(await rejectionOf(elsewhere.run('', { resume: { answer } }))).toMatchObject({
        code: 'ERR_RESUME_INVALID',
      });
    },
  );
});

test('an answer after tool calls is suspended, and the calls keep their results', async () => {
  const model = scriptedModel([calls('look'), 'a draft']);
  const failing: AgentLifecycle = {
    afterAgent: () => {
      throw new RangeError('closed');
    },
  };
  const lifecycle = [holds('draft'), failing];
  const agent = new Agent({ model, tools: [toolOf('look', () => 'a boat')], lifecycle });
  const error = (await rejectionOf(agent.run('Look.'))) as unknown as { history: Message[] };

  expect(transcript(error.history)).toEqual([
    'user: Look.',
    expect.stringContaining('look'),
    'tool: call_1=a boat',
    'assistant?: a draft',
  ]);
});

test('a sealed run restores a suspended answer', async () => {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const { agent } = editorOf(['a draft']);
  const sealed = await sealRun(await agent.run('Write.'), key, { agent: agent.name, expiresInMs: 60_000 });
  const { messages, pending } = await openRun(sealed, key);
  const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));

  expect((await agent.run('', { messages, resume })).text).toBe('a draft');
});

test('a plain answer that is suspended is not checked against `output`', async () => {
  const lifecycle = [{ afterModel: () => HookAction.suspend('ask') }];
  const agent = new Agent({ model: scriptedModel(['not JSON']), lifecycle });

  expect(await agent.run('Hello', { output: { type: 'object' } })).toMatchObject({
    ...{ status: 'suspended', text: 'not JSON', turns: 1 },
  });
});
