import { type Agent, type AgentLifecycle, defineTool, HookAction, type Message, textOf } from 'keelson';
import { calls, delays, recorder } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { createAgent, roles } from '../support/docs/claim-agent.js';

const boom = () => {
  throw new Error('boom');
};

describe('lifecycle.md: order and pairing', () => {
  test('an added lifecycle takes effect in the next run, a removed one stops at once', async () => {
    const seen: string[] = [];
    const agent: Agent = createAgent(calls('echo'), [
      {
        beforeModel: (_messages, run) => {
          seen.push(`turn ${run.turn}`);
          if (run.turn === 1) agent.use({ beforeModel: () => void seen.push('added') });
          if (run.turn === 2) remove();
          if (run.turn === 3) run.end(HookAction.respond('done'));
        },
      },
    ]);
    const remove = agent.use({ beforeModel: () => void seen.push('removed') });
    await agent.run('Hello');
    expect(seen).toEqual(['turn 1', 'removed', 'turn 2', 'turn 3']);
    await agent.run('Hello');
    expect(seen.slice(4, 6)).toEqual(['turn 1', 'added']);
  });

  test('a lifecycle that rejects in beforeAgent gets onError; one that throws or blocks there does not', async () => {
    const ends: Partial<AgentLifecycle>[] = [
      { beforeAgent: () => HookAction.reject('no') },
      { beforeAgent: boom },
      { beforeAgent: boom, onFailure: 'block' },
      { beforeAgent: boom, onFailure: 'continue' },
    ];
    const logs = await Promise.all(
      ends.map(async (part) => {
        const record = recorder();
        const only = { only: ['afterAgent', 'onError'] as const };
        const middle = record.lifecycle('b', { ...only, ...part });
        const agent = createAgent('Hi.', [
          record.lifecycle('a', only),
          { ...middle, ...part },
          record.lifecycle('c', only),
        ]);
        await agent.run('Hello').catch(() => {});
        return record.log;
      }),
    );
    expect(logs).toEqual([
      ['a.onError', 'b.onError'],
      ['a.onError'],
      ['a.onError'],
      ['a.afterAgent', 'b.afterAgent', 'c.afterAgent'],
    ]);
  });

  test('if an afterAgent hook fails, the later lifecycles get onError', async () => {
    const record = recorder();
    const only = { only: ['afterAgent', 'onError'] as const };
    const parts = ['a', 'b', 'c'].map((name) =>
      record.lifecycle(name, { ...only, ...(name === 'b' && { afterAgent: boom }) }),
    );
    await createAgent('Hi.', parts)
      .run('Hello')
      .catch(() => {});
    expect(record.log).toEqual(['a.afterAgent', 'b.afterAgent', 'c.onError']);
  });

  test('if onSessionStart fails, the lifecycles before it get onSessionEnd', async () => {
    const record = recorder();
    const only = { only: ['onSessionStart', 'onSessionEnd'] as const };
    const parts = [record.lifecycle('a', only), record.lifecycle('b', { ...only, onSessionStart: boom })];
    await expect(createAgent('Hi.', parts).session()).rejects.toMatchObject({ point: 'onSessionStart' });
    expect(record.log).toEqual(['a.onSessionStart', 'b.onSessionStart', 'a.onSessionEnd']);
  });

  test('every lifecycle gets onSessionEnd, and close rejects with the first failure', async () => {
    const record = recorder();
    const only = { only: ['onSessionEnd'] as const };
    const parts = [record.lifecycle('a', { ...only, onSessionEnd: boom }), record.lifecycle('b', only)];
    const session = await createAgent('Hi.', parts).session();
    await expect(session.close()).rejects.toMatchObject({ lifecycle: 'a', point: 'onSessionEnd' });
    expect(record.log).toEqual(['a.onSessionEnd', 'b.onSessionEnd']);
  });

  test('a failed onInit is repeated by the next run, beginning with the lifecycle that failed', async () => {
    const record = recorder();
    let failures = 1;
    const only = { only: ['onInit'] as const };
    const onInit = () => (failures-- > 0 ? boom() : undefined);
    const agent = createAgent('Hi.', [record.lifecycle('a', only), record.lifecycle('b', { ...only, onInit })]);
    await expect(agent.run('Hello')).rejects.toMatchObject({ lifecycle: 'b', point: 'onInit' });
    await agent.run('Hello');
    expect(record.log).toEqual(['a.onInit', 'b.onInit', 'b.onInit']);
  });
});

describe('lifecycle.md: abort', () => {
  const points = [
    'beforeAgent',
    'beforeModel',
    'beforeToolSelection',
    'wrapModelCall',
    'afterModel',
    'wrapToolCall',
    'afterAgent',
  ];

  test.each(points)('an abort in %s ends the run despite `onFailure: continue`, and calls onError', async (point) => {
    const abort = new AbortController();
    const errors: string[] = [];
    const hook = () => {
      setTimeout(() => abort.abort('enough'), 1);
      return new Promise(() => {});
    };
    const agent = createAgent(
      [calls('echo'), 'Done.'],
      [
        { onFailure: 'continue', [point]: hook },
        { priority: 10, onError: (error) => void errors.push((error as Error).name) },
        { priority: 90, onError: (error) => void errors.push((error as Error).name) },
      ],
    );
    await expect(agent.run('Hello', { signal: abort.signal })).rejects.toMatchObject({
      code: 'ERR_RUN_ABORTED',
      cause: 'enough',
    });
    expect(errors).toEqual(point === 'beforeAgent' ? ['RunAbortedError'] : expect.arrayContaining(['RunAbortedError']));
  });

  test('a run that was aborted before it started calls no hooks', async () => {
    const record = recorder();
    const agent = createAgent('Hi.', [record.lifecycle('a')]);
    await agent.ready();
    await expect(agent.run('Hello', { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ERR_RUN_ABORTED',
    });
    expect(record.log).toEqual(['a.onInit']);
  });
});

describe('lifecycle.md: the hook points', () => {
  test('a run that continues from messages has an empty input', async () => {
    const inputs: string[] = [];
    const agent = createAgent('Hi.', [{ beforeAgent: (input) => void inputs.push(input) }]);
    await agent.run('', { messages: [{ role: 'user', content: 'Hello' }] });
    expect(inputs).toEqual(['']);
  });

  test('beforeModel must not separate a result from its call', async () => {
    const cut = (messages: readonly Message[]) => messages.filter(({ role }) => role !== 'assistant');
    const running = createAgent([calls('echo'), 'Done.'], [{ name: 'cutter', beforeModel: cut }]).run('Hello');
    await expect(running).rejects.toMatchObject({ lifecycle: 'cutter', cause: { code: 'ERR_MESSAGE_INVALID' } });
  });

  test('beforeToolSelection hides a tool, also for resumed calls, and is not called for the final answer', async () => {
    let offered = 0;
    const hiding: AgentLifecycle = {
      beforeToolSelection: () => {
        offered += 1;
        return [];
      },
    };
    const limited = createAgent([calls('echo'), 'Done.'], [hiding], { maxTurns: { limit: 1, atLimit: 'answer' } });
    const { history, text } = await limited.run('Hello');
    expect({ offered, text }).toEqual({ offered: 1, text: 'Done.' });
    expect(textOf(history[2] as Message)).toContain('There is no tool "echo"');

    const open = await createAgent(calls('echo'), [{ wrapToolCall: () => HookAction.suspend('wait') }]).run('Hello');
    const resume = { [open.pending[0]?.id ?? '']: 'approve' as const };
    const resumed = await createAgent('Done.', [hiding]).run('', { messages: open.history, resume });
    expect(textOf(resumed.messages[0] as Message)).toContain('There is no tool "echo"');
  });

  test('an answer that afterModel replaces is left out of the messages, unless it has tool calls', async () => {
    const reply: AgentLifecycle = { afterModel: () => HookAction.respond('Mine.') };
    expect(roles((await createAgent('Theirs.', [reply]).run('Hello')).messages)).toEqual(['user', 'assistant']);
    const called = await createAgent(calls('echo'), [reply]).run('Hello');
    expect(roles(called.messages)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(called.messages[2]?.content).toMatchObject([{ isError: true }]);
  });

  test('a suspended run lists its pending calls, and calls afterAgent with an empty text', async () => {
    const texts: string[] = [];
    const parts: AgentLifecycle = {
      afterModel: () => HookAction.suspend('wait'),
      afterAgent: (text) => void texts.push(text),
    };
    const { status, pending } = await createAgent(calls('echo'), [parts]).run('Hello');
    expect({ status, open: pending.map(({ name, reason }) => [name, reason]), texts }).toEqual({
      status: 'suspended',
      open: [['echo', 'wait']],
      texts: [''],
    });
  });

  test('a response without tool calls can be suspended, and keeps its text', async () => {
    const { status, text, pending } = await createAgent('Hi.', [{ afterModel: () => HookAction.suspend('wait') }]).run(
      'Hello',
    );
    const held = { type: 'answer', id: 'answer', text: 'Hi.', reason: 'wait', by: 'lifecycle#1' };
    expect({ status, text, pending }).toEqual({ status: 'suspended', text: 'Hi.', pending: [held] });
  });

  test('a text that a lifecycle responds with must match the output schema', async () => {
    const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    const run = (text: string) =>
      createAgent([], [{ beforeAgent: () => HookAction.respond(text) }]).run('Hello', { output });
    expect((await run('{"a":1}')).output).toEqual({ a: 1 });
    await expect(run('nothing')).rejects.toMatchObject({ code: 'ERR_OUTPUT_INVALID' });
  });

  test('`next` resolves if a tool fails, and rejects if a call is suspended', async () => {
    const seen: unknown[] = [];
    const outer: AgentLifecycle = {
      wrapToolCall: async (_call, next) => {
        const result = await next().catch((error) => ({ content: `caught ${error.code}` }));
        seen.push(result.content);
        return result;
      },
    };
    const failing = defineTool({ name: 'echo', description: 'Fails.', input: { type: 'object' }, execute: boom });
    await createAgent([calls('echo'), 'Done.'], [outer], { tools: [failing] }).run('Hello');
    const gate: AgentLifecycle = { wrapToolCall: () => HookAction.suspend('wait') };
    const { status } = await createAgent(calls('echo'), [outer, gate]).run('Hello');
    expect({ seen, status }).toEqual({ seen: ['boom', 'caught ERR_CALL_SUSPENDED'], status: 'suspended' });
  });

  test('run.add adds a turn after the answer, and throws in afterAgent', async () => {
    const late: unknown[] = [];
    const agent = createAgent(
      ['One.', 'Two.'],
      [
        {
          afterModel: (_response, run) => {
            if (run.turn === 1) run.add({ role: 'user', content: 'Are you sure?' });
          },
          afterAgent: (_text, run) => {
            try {
              run.add({ role: 'user', content: 'Too late.' });
            } catch (error) {
              late.push((error as { code: string }).code);
            }
          },
        },
      ],
    );
    const { text, messages } = await agent.run('Hello');
    expect({ text, roles: roles(messages), late }).toEqual({
      text: 'Two.',
      roles: ['user', 'assistant', 'user', 'assistant'],
      late: ['ERR_RUN_ENDED'],
    });
  });

  test('the time spent in `next` does not count towards timeoutMs', async () => {
    const timed: AgentLifecycle = { timeoutMs: 30, wrapModelCall: async (request, next) => await next(request) };
    expect((await createAgent(delays(80, 'Late.'), [timed]).run('Hello')).text).toBe('Late.');
  });

  test('`next` can be called again until its hook has settled', async () => {
    let kept: (() => Promise<unknown>) | undefined;
    const twice: AgentLifecycle = {
      wrapModelCall: async (_request, next) => {
        kept = next;
        await next();
        return next();
      },
    };
    const { text, usage, turns } = await createAgent(['One.', 'Two.'], [twice]).run('Hello');
    expect({ text, tokens: usage.totalTokens, turns }).toEqual({ text: 'Two.', tokens: 30, turns: 1 });
    await expect(kept?.()).rejects.toMatchObject({ code: 'ERR_NEXT_EXPIRED' });
  });
});
