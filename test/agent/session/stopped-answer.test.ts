import { Agent, type AgentLifecycle, MemorySessionStore, type Message, messagesOf, type SessionOptions } from 'keelson';
import { calls, hangs, type ScriptEntry, scriptedModel, streams } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause, rejectionOf, until } from '../../support/agent/settle.js';

const question: Message = { role: 'user', content: 'What is a keelson?' };
const halfAnswer: Message = {
  role: 'assistant',
  content: [{ type: 'text', text: 'A timber ' }],
  stopped: true,
};

async function sessionOf(script: readonly ScriptEntry[], options: SessionOptions = {}) {
  const store = new MemorySessionStore();
  const model = scriptedModel(script);
  const agent = new Agent({ model, store, tools: [toolOf('work', () => 'worked')] });
  const session = await agent.session({ id: 's', ...options });
  const stored = async () => messagesOf((await store.load('s'))?.entries ?? []);
  return { agent, model, session, stored };
}

/** Streams a run and aborts it at the first text. */
async function stopAtText(session: Awaited<ReturnType<typeof sessionOf>>['session']) {
  const stop = new AbortController();
  const stream = session.stream('What is a keelson?', { signal: stop.signal, id: 'q' });
  const failed = rejectionOf(stream.result);
  await (async () => {
    for await (const event of stream) if (event.type === 'text-delta') stop.abort();
  })().catch(() => {});
  return failed;
}

describe('an answer that is stopped', () => {
  it('keeps the question and the text that was shown, and the next run continues from them', async () => {
    const { model, session, stored } = await sessionOf([streams(['A timber '], hangs()), 'It runs along the keel.']);

    expect(await stopAtText(session)).toMatchObject({ code: 'ERR_RUN_ABORTED', history: [question, halfAnswer] });
    expect(await stored()).toEqual([question, halfAnswer]);

    await session.run('Go on.');
    expect(model.requests[1]?.messages.slice(0, 2)).toEqual([question, halfAnswer]);
  });

  it('is given anew, on a branch, if the same question is sent again', async () => {
    const { model, session } = await sessionOf([streams(['A timber '], hangs()), 'A keelson is a timber.', 'Oak.']);
    await stopAtText(session);

    const { text } = await session.run('What is a keelson?', { id: 'q' });

    expect(text).toBe('A keelson is a timber.');
    expect(model.requests[1]?.messages).toEqual([question]);
    expect(session.messages).toHaveLength(2);
    expect((await session.run('What is a keelson?', { id: 'q' })).text).toBe(text);
    expect(model.requests).toHaveLength(2);
    // An answer that was stopped earlier in the conversation stays as it is.
    await session.run('Of what wood?', { id: 'r' });
    expect((await session.run('What is a keelson?', { id: 'q' })).text).toBe(text);
  });

  it('leaves out reasoning and a tool call that was not complete', async () => {
    const parts = [
      { type: 'reasoning-delta', text: 'Hm.' },
      { type: 'tool-input-delta', id: 'c', name: 'work', text: '{"a' },
      { type: 'text-delta', text: 'A timber ' },
    ] as const;
    const { session, stored } = await sessionOf([streams(parts, hangs())]);

    await stopAtText(session);

    expect(await stored()).toEqual([question, halfAnswer]);
  });

  it('keeps the question alone if only white space was shown', async () => {
    const { session, stored } = await sessionOf([streams([' \n'], hangs())]);

    await stopAtText(session);

    expect(await stored()).toEqual([question]);
  });

  it('keeps the question alone if no text was shown', async () => {
    const { agent, session, stored } = await sessionOf([hangs()]);
    const stop = new AbortController();
    const failed = rejectionOf(session.run('What is a keelson?', { signal: stop.signal }));
    await until(() => agent.status().runs === 1);
    await pause();
    stop.abort();

    expect(await failed).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(await stored()).toEqual([question]);
  });

  it('keeps the turns before it', async () => {
    const { session, stored } = await sessionOf([calls('work'), streams(['A timber '], hangs())]);

    await stopAtText(session);

    expect((await stored()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect((await stored()).at(-1)).toEqual(halfAnswer);
  });

  it('is dropped with `onAbort: discard`', async () => {
    const { session, stored } = await sessionOf([streams(['A timber '], hangs())], { onAbort: 'discard' });

    await stopAtText(session);

    expect(await stored()).toEqual([question]);
  });

  it('keeps only the text of the last attempt', async () => {
    const store = new MemorySessionStore();
    const again: AgentLifecycle = {
      wrapModelCall: async (_request, next) => {
        await next();
        return next();
      },
    };
    const model = scriptedModel(['dropped', streams(['A timber '], hangs())]);
    const agent = new Agent({ model, store, lifecycle: [again] });
    const session = await agent.session({ id: 's' });
    const stop = new AbortController();
    const stream = session.stream('What is a keelson?', { signal: stop.signal });
    const failed = rejectionOf(stream.result);
    await (async () => {
      for await (const event of stream) if (event.type === 'text-delta' && event.attempt === 2) stop.abort();
    })().catch(() => {});
    await failed;

    expect(messagesOf((await store.load('s'))?.entries ?? [])).toEqual([question, halfAnswer]);
  });
});

describe('session.append', () => {
  it('saves a message without a run, and the next run continues from it', async () => {
    const { model, session, stored } = await sessionOf(['Noted.']);

    await session.append(question);

    expect(await stored()).toEqual([question]);
    expect(session.messages).toEqual([question]);
    await session.run('And now?');
    expect(model.requests[0]?.messages[0]).toEqual(question);
  });

  it('waits for the run before it', async () => {
    const { session, stored } = await sessionOf(['one']);

    await Promise.all([session.run('first'), session.append(question)]);

    expect((await stored()).at(-1)).toEqual(question);
  });

  it('refuses a tool result', async () => {
    const { session } = await sessionOf([]);

    expect(await rejectionOf(session.append({ role: 'tool', content: [] }))).toMatchObject({
      code: 'ERR_MESSAGE_INVALID',
    });
  });
});
