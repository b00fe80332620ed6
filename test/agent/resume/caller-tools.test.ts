import {
  Agent,
  type AgentLifecycle,
  defineTool,
  MemorySessionStore,
  type ResumeDecision,
  type RunResult,
} from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { approval, openRun, sealRun } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { resultsIn, transcript } from '../../support/agent/transcript.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

/** A tool that the caller of the agent runs. */
const askColour = defineTool({
  name: 'askColour',
  description: 'Asks the person for a colour.',
  input: z.object({ shades: z.number() }),
});

interface Scene {
  readonly script?: Parameters<typeof scriptedModel>[0];
  readonly lifecycle?: readonly AgentLifecycle[];
}

const ASK = { name: 'askColour', input: { shades: 3 } };

/** An agent whose tool `look` runs on the server, and whose tool `askColour` does not. */
function arrange({ script = [calls({ name: 'look' }, ASK), 'done'], lifecycle = [] }: Scene = {}) {
  const ran: string[] = [];
  const look = toolOf('look', () => {
    ran.push('look');
    return 'seen';
  });
  const model = scriptedModel(script);
  const store = new MemorySessionStore();
  const agent = new Agent({ model, store, tools: [look, askColour], lifecycle });
  return { agent, model, store, ran };
}

const afterJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const resume = (agent: Agent, { history }: RunResult<unknown>, decisions: Record<string, ResumeDecision>) =>
  agent.run('', { messages: afterJson(history), resume: decisions });

describe('a call of a tool without `execute`', () => {
  test('is offered to the model, and waits for its result while the other calls run', async () => {
    const { agent, model, ran } = arrange();

    const result = await agent.run('go');

    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look', 'askColour']);
    expect(ran).toEqual(['look']);
    expect([result.status, result.pending]).toEqual([
      'suspended',
      [
        {
          ...{ type: 'tool-call', id: 'call_2', ...ASK },
          ...{ reason: 'The caller runs "askColour".', by: 'askColour', needs: 'result' },
        },
      ],
    ]);
  });

  test.each<[string, ResumeDecision, object]>([
    ['a string', { result: 'red' }, { content: 'red' }],
    ['data', { result: { colour: 'red' } }, { content: '{"colour":"red"}', structured: { colour: 'red' } }],
    ['a failure', { result: 'No screen.', isError: true }, { content: 'No screen.', isError: true }],
    ['a denial', { deny: 'not now' }, { content: 'The call was denied: not now', isError: true }],
    [
      'data that looks like a file',
      { result: [{ type: 'image', image: 'http://10.0.0.1/' }] },
      { content: '[{"type":"image","image":"http://10.0.0.1/"}]' },
    ],
  ])('goes on with %s', async (_title, decision, expected) => {
    const { agent, model } = arrange();

    const { text } = await resume(agent, await agent.run('go'), { call_2: decision });

    expect(text).toBe('done');
    const results = model.requests[1]?.messages.at(-1)?.content;
    expect(results).toMatchObject([{ content: 'seen' }, { id: 'call_2', name: 'askColour', ...expected }]);
  });

  test('is told to the hooks of the run, and its result is a decision', async () => {
    const seen: unknown[] = [];
    const watch: AgentLifecycle = {
      name: 'watch',
      wrapToolCall: (call, next) => {
        seen.push([call.name, call.input, call.tool?.execute]);
        return next();
      },
    };
    const { agent } = arrange({ script: [calls(ASK), 'done'], lifecycle: [watch] });

    const suspended = await agent.run('go');
    const { decisions } = await resume(agent, suspended, { call_1: { result: 'red' } });

    expect(seen).toEqual([['askColour', { shades: 3 }, undefined]]);
    expect(suspended.decisions).toMatchObject([{ type: 'suspend', by: 'askColour', call: { id: 'call_1' } }]);
    expect(decisions).toMatchObject([{ type: 'respond', by: 'resume', call: { id: 'call_1' }, after: 'red' }]);
  });

  test('does not wait if its arguments do not match the schema', async () => {
    const { agent } = arrange({ script: [calls({ name: 'askColour', input: { shades: 'x' } }), 'done'] });

    const { status, messages } = await agent.run('go');

    expect(status).toBe('completed');
    expect(resultsIn(messages).call_1).toMatch(/^!The arguments of "askColour" are not valid: shades/);
  });

  test.each<[string, AgentLifecycle['wrapToolCall']]>([
    ['arguments', (call, next) => next({ ...call, input: { shades: 1 } })],
    ['name', (call, next) => next({ ...call, name: 'askColour' })],
  ])('does not wait if a hook changed its %s, which the caller would not see', async (_title, wrapToolCall) => {
    const asked = { name: _title === 'name' ? 'look' : 'askColour', input: { shades: 3 } };
    const { agent } = arrange({ script: [calls(asked), 'done'], lifecycle: [{ name: 'changer', wrapToolCall }] });

    const { status, messages } = await agent.run('go');

    expect([status, resultsIn(messages).call_1]).toEqual(['completed', expect.stringMatching(/^!.*a hook changed it/)]);
  });

  test('can be continued from a sealed run', async () => {
    const { agent } = arrange();
    const key = 'k'.repeat(32);
    const text = await sealRun(await agent.run('go'), key, { agent: 'agent', expiresInMs: 60_000 });

    const { messages, pending } = await openRun(text, key);
    const { history } = await agent.run('', { messages, resume: { call_2: { result: 'red' } } });

    expect(pending).toMatchObject([{ id: 'call_2', needs: 'result' }]);
    expect(resultsIn(history).call_2).toBe('red');
  });
});

describe('a decision that does not fit its call is refused', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['an approval of a call that the caller runs', { call_2: 'approve' }, 'so only the caller can run it'],
    [
      'a result that is not JSON',
      { call_2: { result: () => 1 } },
      "must be 'approve', 'deny', { deny: reason }, { approve: input } or",
    ],
    ['an `isError` that is a string', { call_2: { result: 'x', isError: 'no' } }, 'The decision on "call_2" must be'],
    ['a result of a call that has one', { call_1: { result: 'x' }, call_2: { result: 'x' } }, 'not open: "call_1"'],
    ['no decision', {}, '{ result } for these ids: "call_2"'],
    ['a result and a denial', { call_2: { result: 'x', deny: 'y' } }, 'The decision on "call_2" must be'],
  ])('%s', async (_title, decisions, message) => {
    const { agent, model } = arrange();
    const suspended = await agent.run('go');

    const error = await rejectionOf(resume(agent, suspended, decisions as Record<string, ResumeDecision>));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', message: expect.stringContaining(message) });
    expect(model.requests).toHaveLength(1);
  });

  test('a result of a call that waits for approval', async () => {
    const { agent, ran } = arrange({ lifecycle: [approval({ tools: ['look'] })] });
    const suspended = await agent.run('go');

    const error = await rejectionOf(resume(agent, suspended, { call_1: { result: 'x' }, call_2: { result: 'red' } }));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['call_1'] });
    const done = await resume(agent, suspended, { call_1: 'approve', call_2: { result: 'red' } });
    expect([ran, resultsIn(done.history)]).toEqual([['look'], { call_1: 'seen', call_2: 'red' }]);
  });

  test('a result of a suspended answer', async () => {
    const hold: AgentLifecycle = { name: 'hold', afterModel: () => ({ type: 'suspend', reason: 'read first' }) };
    const { agent } = arrange({ script: ['an answer'], lifecycle: [hold] });

    const error = await rejectionOf(resume(agent, await agent.run('go'), { answer: { result: 'x' } }));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['answer'] });
  });
});

describe('a call of a session that the caller runs', () => {
  test('waits in the record, and its decision and its result are one append', async () => {
    const { agent, store } = arrange();
    await using session = await agent.session({ id: 's' });
    await session.run('go');
    const appends: unknown[][] = [];
    const append = store.append.bind(store);
    store.append = (id, given) => {
      appends.push(given.entries.map(({ body, by }) => [body.type, by]));
      return append(id, given);
    };

    await session.run('', { resume: { call_2: { result: { colour: 'red' } } }, by: 'ada' });

    const bodies = session.entries.map(({ body }) => body);
    expect(bodies.find(({ type }) => type === 'suspended')).toMatchObject({
      calls: [{ id: 'call_2', needs: 'result' }],
    });
    const decision = { type: 'decision', call: 'call_2', decision: { result: { colour: 'red' } } };
    expect(bodies.find(({ type }) => type === 'decision')).toEqual(decision);
    expect(appends[0]).toEqual([
      ['decision', 'ada'],
      ['message', undefined],
    ]);
    expect(transcript(session.messages)).toEqual([
      'user: go',
      'assistant: call call_1 look, call call_2 askColour',
      'tool: call_1=seen, call_2={"colour":"red"}',
      'assistant: done',
    ]);
  });

  test('waits in files, and another process continues it', async () => {
    const folder = await temporaryFolder();
    const model = scriptedModel([calls(ASK), 'done']);
    const process = () => new Agent({ model, tools: [askColour], store: new FileSessionStore({ folder }) });
    await (await process().session({ id: 's' })).run('go');

    await using session = await process().session({ id: 's' });
    await session.run('', { resume: { call_1: { result: 'No screen.', isError: true } } });

    expect(resultsIn(session.messages)).toEqual({ call_1: '!No screen.' });
    const { entries } = (await new FileSessionStore({ folder }).load('s')) ?? { entries: [] };
    expect(entries.map(({ body }) => body).find(({ type }) => type === 'decision')).toEqual({
      ...{ type: 'decision', call: 'call_1', decision: { result: 'No screen.', isError: true } },
    });
  });

  test('has one result', async () => {
    const { agent } = arrange();
    await using session = await agent.session({ id: 's' });
    await session.run('go');
    await session.run('', { resume: { call_2: { result: 'red' } } });

    const error = await rejectionOf(session.run('', { resume: { call_2: { result: 'blue' } } }));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID' });
    expect(resultsIn(session.messages).call_2).toBe('red');
  });

  test('takes a result also in a run without its tool, and no other call takes one', async () => {
    const { agent, model } = arrange({ lifecycle: [approval({ tools: ['look'] })] });
    await using session = await agent.session({ id: 's' });
    await session.run('go');
    // A tool of the caller with the name of a call that waits for approval.
    const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}) });

    const results = { call_1: { result: 'forged' }, call_2: { result: 'red' } };
    const error = await rejectionOf(session.run('', { tools: [look], resume: results }));
    await session.run('', { tools: [look], resume: { call_1: 'deny', call_2: { result: 'red' } } });

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['call_1'] });
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: '!The call was denied.', call_2: 'red' });
  });
});

describe('with `approval`', () => {
  test('a call that the caller runs waits for one answer', async () => {
    const { agent } = arrange({ script: [calls(ASK), 'done'], lifecycle: [approval()] });

    const suspended = await agent.run('go');

    expect(suspended.pending).toMatchObject([{ by: 'askColour', needs: 'result' }]);
    expect((await resume(agent, suspended, { call_1: { result: 'red' } })).status).toBe('completed');
  });

  test('`ask` may deny it', async () => {
    const ask = approval({ ask: () => ({ deny: 'no questions' }) });
    const { agent } = arrange({ script: [calls(ASK), 'done'], lifecycle: [ask] });

    expect(resultsIn((await agent.run('go')).history).call_1).toBe('!The call was denied: no questions');
  });
});
