import { Agent, type AgentOptions, HookAction, MemorySessionStore, messagesOf, type RunContext } from 'keelson';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { approval } from '../../support/agent/approval.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';

const sessionOf = (script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) => {
  const model = scriptedModel(script);
  return { model, opening: new Agent({ model, ...options }).session({ id: 's' }) };
};

describe('going back', () => {
  test('`at` begins a branch behind an entry, and the other branch stays', async () => {
    const { model, opening } = sessionOf(['one', 'two', 'three', 'four']);
    const session = await opening;
    await session.run('a', { id: 'a' });
    await session.run('b', { id: 'b' });

    await session.run('', { at: 'b' });
    await session.run('c', { at: 'a' });

    expect(transcript(model.requests[2]?.messages ?? [])).toEqual(['user: a', 'assistant: one', 'user: b']);
    expect(transcript(model.requests[3]?.messages ?? [])).toEqual(['user: a', 'user: c']);
    expect(transcript(session.messages)).toEqual(['user: a', 'user: c', 'assistant: four']);
    expect(session.entries).toHaveLength(7);
  });

  test('`branch` moves the head, also to the start, in another process too', async () => {
    const store = new MemorySessionStore();
    const { opening } = sessionOf(['one', 'two'], { store });
    const session = await opening;
    await session.run('a', { id: 'a' });
    const answer = session.entries.at(-1)?.id ?? '';
    await session.run('b');

    await session.branch(answer);
    expect(transcript(session.messages)).toEqual(['user: a', 'assistant: one']);
    await session.branch(null);

    const { model, opening: other } = sessionOf(['new'], { store });
    const reopened = await other;
    expect(reopened.messages).toEqual([]);
    await reopened.run('fresh');
    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['user: fresh']);
  });

  test.each([
    ['unknown', 'is unknown'],
    ['the calls', 'lies between tool calls and their results'],
  ])('refuses an entry that is not a branch point: %s', async (which, problem) => {
    const { opening } = sessionOf([calls('work'), 'done'], { tools: [toolOf('work', () => 'x')] });
    const session = await opening;
    await session.run('go');
    const id = which === 'unknown' ? 'nope' : (session.entries[1]?.id ?? '');

    for (const refused of [session.run('x', { at: id }), session.branch(id), session.fork({ id: 't', at: id })]) {
      expect(await rejectionOf(refused)).toMatchObject({ code: 'ERR_ENTRY_INVALID', entry: id, session: 's' });
    }
    expect(await rejectionOf(session.branch(id))).toMatchObject({ message: expect.stringContaining(problem) });
    expect(session.entries).toHaveLength(4);
  });

  test('refuses decisions, because the waiting calls are on the branch that it leaves', async () => {
    let paid = 0;
    const options = { tools: [toolOf('pay', () => `${++paid}`)], lifecycle: [approval('pay')] };
    const session = await sessionOf(['Hello.', calls('pay'), 'Paid.'], options).opening;
    await session.run('Hi.', { id: 'a' });
    await session.run('Pay.', { id: 'b' });
    const resume = { call_1: 'approve' } as const;

    for (const at of ['a', 'b', null]) {
      expect(await rejectionOf(session.run('', { at, resume }))).toMatchObject({
        code: 'ERR_RESUME_INVALID',
        calls: ['call_1'],
      });
    }
    expect(session.entries).toHaveLength(5);
    expect([(await session.run('', { resume })).text, paid]).toEqual(['Paid.', 1]);
  });

  test('`fork` copies the path, and only the original can approve a call', async () => {
    const store = new MemorySessionStore();
    let paid = 0;
    const tools = [toolOf('pay', () => `${++paid}`)];
    const options = { store, tools, lifecycle: [approval('pay')] };
    const session = await sessionOf([calls('pay'), 'Paid.'], options).opening;
    await session.run('Pay.');

    const summary = await session.fork({ id: 'copy', details: { title: 'A copy' } });

    expect(summary).toMatchObject({ id: 'copy', title: 'A copy' });
    const copy = await new Agent({ model: scriptedModel(['Hm.']), ...options }).session({ id: 'copy' });
    expect(transcript(copy.messages).at(-1)).toMatch(/^tool: call_1!This copy/);
    const resume = { call_1: 'approve' } as const;
    expect(await rejectionOf(copy.run('', { resume }))).toMatchObject({ code: 'ERR_RESUME_INVALID' });
    await session.run('', { resume });
    expect(await rejectionOf(session.run('', { resume }))).toMatchObject({ code: 'ERR_RESUME_INVALID' });
    expect(paid).toBe(1);
    expect(await rejectionOf(session.fork({ id: 'copy' }))).toMatchObject({ code: 'ERR_SESSION_EXISTS' });
  });

  test('to an entry that another process has not loaded makes that process load the rest', async () => {
    const store = new MemorySessionStore();
    const compacting = {
      beforeModel: (messages: readonly object[], run: RunContext) =>
        messages.length === 5 ? run.summarize({ text: 'short', from: run.messages.at(-1) }) : undefined,
    };
    const session = await sessionOf(['1', '2', '3'], { store, lifecycle: [compacting] }).opening;
    for (const id of ['a', 'b', 'c']) await session.run(id, { id });
    const { model, opening } = sessionOf(['4'], { store });
    const other = await opening;
    expect(other.entries[0]?.id).toBe('c');

    await session.branch(session.entries[1]?.id ?? '');
    await other.run('d');

    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['user: a', 'assistant: 1', 'user: d']);
    const stored = (await store.load('s'))?.entries ?? [];
    expect(transcript(messagesOf(stored))).toEqual(['user: a', 'assistant: 1', 'user: d', 'assistant: 4']);
  });

  test('to a suspended answer makes it wait again, although calls of another branch were suspended later', async () => {
    let isHeld = true;
    const holding = { afterModel: () => (isHeld ? HookAction.suspend('Read it first.') : undefined) };
    const options = { lifecycle: [holding, approval('pay')], tools: [toolOf('pay', () => 'paid')] };
    const session = await sessionOf(['held', calls('pay'), 'never'], options).opening;
    await session.run('Draft.');
    const answer = session.entries[1]?.id ?? '';
    isHeld = false;
    await session.run('Pay.', { at: null });

    await session.branch(answer);

    expect(session.messages.at(-1)).toMatchObject({ role: 'assistant', suspended: true });
    expect(await rejectionOf(session.run('Go on.'))).toMatchObject({ code: 'ERR_RESUME_INVALID' });
    expect((await session.run('', { resume: { answer: 'approve' } })).text).toBe('held');
  });
});
