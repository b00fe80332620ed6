import {
  Agent,
  type AgentLifecycle,
  defineTool,
  MemorySessionStore,
  type Message,
  type ResumeDecision,
  type Tool,
} from 'keelson';
import { type ApprovalAnswer, approval } from 'keelson/lifecycles';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { gate, rejectionOf, until } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { resultsIn } from '../support/agent/transcript.js';

const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });

/** Makes an agent with the tools `pay`, `erase` and the read-only `look`. Returns the agent and the calls of its tools. */
function agentOf(script: readonly ScriptEntry[], lifecycle: readonly AgentLifecycle[], more: readonly Tool[] = []) {
  const ran: string[] = [];
  const tool = (name: string, readOnly?: boolean) =>
    defineTool({
      name,
      description: 'Does it.',
      input: { type: 'object' },
      annotations: { readOnly },
      execute: (input) => {
        ran.push(`${name} ${JSON.stringify(input)}`);
        return 'done';
      },
    });
  const tools = [tool('pay'), tool('erase'), tool('look', true), ...more];
  const store = new MemorySessionStore();
  const make = () =>
    new Agent({ model: scriptedModel(script, { perRun: true }), tools, lifecycle, store, logger: keepingLogger() });
  return { ran, make, agent: make() };
}

const overJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('approval: the calls that need approval', () => {
  test('calls of the named tools need approval, and other calls run', async () => {
    const { agent, ran } = agentOf([calls(call('a', 'pay'), call('b', 'erase'))], [approval({ tools: ['pay'] })]);

    const { status, pending } = await agent.run('Go.');

    expect({ status, ran }).toEqual({ status: 'suspended', ran: ['erase {}'] });
    expect(pending).toMatchObject([{ id: 'a', name: 'pay', reason: '"pay" needs approval.', by: 'approval' }]);
  });

  test('without options all calls need approval, except those of read-only tools without an origin', async () => {
    const stranger: Tool = {
      name: 'stranger',
      description: 'Says that it only reads.',
      inputSchema: { type: 'object' },
      check: (value) => ({ value }),
      execute: () => 'read',
      annotations: { readOnly: true },
      origin: 'mcp:somewhere',
    };
    const { agent, ran } = agentOf(
      [calls(call('a', 'pay'), call('b', 'look'), call('c', 'stranger'))],
      [approval()],
      [stranger],
    );

    const { pending } = await agent.run('Go.');

    expect(pending.map(({ name }) => name)).toEqual(['pay', 'stranger']);
    expect(ran).toEqual(['look {}']);
  });

  test('calls need approval if `when` returns true or a reason, or if `tools` has their name', async () => {
    const when = ({ name, input }: { name: string; input: unknown }) => {
      const { amount = 0 } = input as { amount?: number };
      return name === 'pay' && amount > 10 ? `It pays ${amount} euro.` : false;
    };
    const script = [calls(call('a', 'pay', { amount: 5 }), call('b', 'pay', { amount: 50 }), call('c', 'erase'))];

    const alone = await agentOf(script, [approval({ when })]).agent.run('Go.');
    const both = await agentOf(script, [approval({ when, tools: ['erase'] })]).agent.run('Go.');

    expect(alone.pending.map(({ id, reason }) => [id, reason])).toEqual([['b', 'It pays 50 euro.']]);
    expect(both.pending.map(({ id }) => id)).toEqual(['b', 'c']);
  });

  test('a later change of the `tools` array has no effect', async () => {
    const tools = ['pay'];
    const guard = approval({ tools });
    tools.length = 0;
    expect((await agentOf([calls(call('a', 'pay'))], [guard]).agent.run('Go.')).status).toBe('suspended');
  });

  test('a call of an unknown tool needs no approval', async () => {
    const { agent } = agentOf([calls('missing'), 'Done.'], [approval()]);
    expect(resultsIn((await agent.run('Go.')).messages).call_1).toContain('There is no tool "missing"');
  });

  test('`ask` gets the final arguments with every order of registration', async () => {
    const seen: unknown[] = [];
    const ask = ({ input }: { input: unknown }) => {
      seen.push(input);
      return 'approve' as const;
    };
    const rewriter: AgentLifecycle = {
      priority: 10,
      wrapToolCall: (made, next) => next({ ...made, input: { amount: 1 } }),
    };
    const { agent, ran } = agentOf([calls(call('a', 'pay', { amount: 99 })), 'Done.'], [approval({ ask }), rewriter]);
    await agent.run('Go.');
    expect([seen, ran]).toEqual([[{ amount: 1 }], ['pay {"amount":1}']]);
  });

  test('the context of the run has its type', async () => {
    const byRole = approval<{ readonly isAdmin: boolean }>({ when: ({ run }) => !run.context.isAdmin });
    const agent = new Agent({
      model: scriptedModel([calls('look'), 'Done.'], { perRun: true }),
      tools: [defineTool({ name: 'look', description: 'Looks.', input: { type: 'object' }, execute: () => 'sea' })],
      lifecycle: [byRole],
    });
    expect((await agent.run('Go.', { context: { isAdmin: true } })).status).toBe('completed');
    expect((await agent.run('Go.', { context: { isAdmin: false } })).status).toBe('suspended');
  });
});

describe('approval: resumed', () => {
  const script = [calls(call('a', 'pay'), call('b', 'erase'), call('c', 'look')), 'Done.'];

  test('in another process, an approved call runs without another question and a denied call gets an error result', async () => {
    const { make, ran } = agentOf(script, [approval()]);
    const { history } = overJson(await make().run('Go.'));

    const resume = { a: 'approve', b: { deny: 'too risky' } } as const;
    const { status, text, history: after } = overJson(await make().run('', { messages: history, resume }));

    expect({ status, text, ran }).toEqual({ status: 'completed', text: 'Done.', ran: ['look {}', 'pay {}'] });
    expect(resultsIn(after)).toEqual({ a: 'done', b: '!The call was denied: too risky', c: 'done' });
  });

  test('in a session that is reopened from its store', async () => {
    const { make, ran } = agentOf(script, [approval()]);
    const first = await make().session({ id: 's' });
    expect((await first.run('Go.')).status).toBe('suspended');
    await first.close();

    const again = await make().session({ id: 's' });
    const decisions: Record<string, ResumeDecision> = { a: 'deny', b: 'approve' };
    expect((await again.run('', { resume: decisions })).text).toBe('Done.');
    expect(ran).toEqual(['look {}', 'erase {}']);
  });

  test('a later call of the same tool needs approval again', async () => {
    const twice = [calls(call('a', 'pay')), calls(call('b', 'pay')), 'Done.'];
    const { agent } = agentOf(twice, [approval()]);
    const { history } = await agent.run('Go.');
    const { status, pending } = await agent.run('', { messages: history, resume: { a: 'approve' } });
    expect([status, pending.map(({ id }) => id)]).toEqual(['suspended', ['b']]);
  });

  test('an approval does not apply to a different call in a forged history', async () => {
    const { agent, ran } = agentOf(script, [approval()]);
    const messages: Message[] = [{ role: 'assistant', content: [{ type: 'tool-call', ...call('x', 'erase') }] }];
    await expect(agent.run('', { messages, resume: { a: 'approve' } })).rejects.toMatchObject({
      code: 'ERR_RESUME_INVALID',
    });
    expect(ran).toEqual([]);
  });
});

describe('approval: with `ask`', () => {
  const script = [calls(call('a', 'pay'), call('b', 'erase'), call('c', 'look')), 'Done.'];

  test('each call of a turn gets its own answer, and a call without an answer is suspended', async () => {
    const answers: Record<string, ApprovalAnswer | undefined> = { pay: 'approve', erase: { deny: 'not today' } };
    const { agent, ran } = agentOf(script, [
      approval({ tools: ['pay', 'erase', 'look'], ask: ({ name }) => answers[name] }),
    ]);

    const { status, pending, history } = await agent.run('Go.');

    expect({ status, ran }).toEqual({ status: 'suspended', ran: ['pay {}'] });
    expect(pending.map(({ id }) => id)).toEqual(['c']);
    expect(resultsIn(history)).toEqual({ a: 'done', b: '!The call was denied: not today' });
  });

  test('`ask` is not called for a resumed call, and a denied call gets the default message', async () => {
    const asked: string[] = [];
    const later = agentOf(script, [approval({ ask: ({ id }) => void asked.push(id) })]);
    const { history } = await later.agent.run('Go.');
    const { text } = await later.agent.run('', { messages: history, resume: { a: 'approve', b: 'approve' } });
    expect([text, asked, later.ran]).toEqual(['Done.', ['a', 'b'], ['look {}', 'pay {}', 'erase {}']]);

    const denying = agentOf(script, [approval({ ask: () => 'deny' })]);
    expect(resultsIn((await denying.agent.run('Go.')).messages).a).toBe('!The call was denied.');
  });

  test('no tool runs if `ask` throws, rejects or returns an invalid answer', async () => {
    const wrong = [
      () => {
        throw new TypeError('boom');
      },
      () => Promise.reject(new TypeError('boom')),
      () => true as never,
      () => ({ deny: 1 }) as never,
    ];
    for (const ask of wrong) {
      const { agent, ran } = agentOf([calls(call('a', 'pay')), 'Done.'], [approval({ ask })]);
      const { text, messages } = await agent.run('Go.');
      expect([text, ran]).toEqual(['Done.', []]);
      expect(resultsIn(messages).a).toContain('!The call was blocked, because "approval" failed');
    }
    const { agent, ran } = agentOf([calls(call('a', 'pay')), 'Done.'], [approval({ when: () => 1 as never })]);
    await agent.run('Go.');
    expect(ran).toEqual([]);
  });

  test('an abort ends the run while `ask` is pending, and a late approval runs no tool', async () => {
    const door = gate();
    const ask = async () => {
      await door.pass();
      return 'approve' as const;
    };
    const { agent, ran } = agentOf([calls(call('a', 'pay')), 'Done.'], [approval({ ask })]);
    const abort = new AbortController();

    const running = rejectionOf(agent.run('Go.', { signal: abort.signal }));
    await until(() => door.arrived === 1);
    abort.abort();
    expect(await running).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    door.open();
    await Promise.resolve();
    expect(ran).toEqual([]);
  });
});

describe('`ask` is called for one call after another', () => {
  const twice = [calls(call('c1', 'pay'), call('c2', 'pay')), 'done'];

  /** Counts the pending calls of `ask`. */
  function asker() {
    const seen = { open: 0, most: 0, asked: [] as string[] };
    const ask = async (asked: { readonly id: string }): Promise<ApprovalAnswer> => {
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      seen.asked.push(asked.id);
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.open -= 1;
      if (asked.id === 'c1') throw new Error('the terminal is gone');
      return 'approve';
    };
    return { seen, ask };
  }

  test('also if the first `ask` fails', async () => {
    const { seen, ask } = asker();
    const { agent, ran } = agentOf(twice, [approval({ ask })]);

    await agent.run('go');

    expect(seen).toMatchObject({ most: 1, asked: ['c1', 'c2'] });
    expect(ran).toEqual(['pay {}']);
  });

  test('unless `askInParallel` is true', async () => {
    const { seen, ask } = asker();

    await agentOf(twice, [approval({ ask, askInParallel: true })]).agent.run('go');

    expect(seen.most).toBe(2);
  });

  test('`ask` is not called again after the run is aborted', async () => {
    const asked: string[] = [];
    const stop = new AbortController();
    const ask = async ({ id }: { readonly id: string }): Promise<ApprovalAnswer> => {
      asked.push(id);
      stop.abort();
      return 'approve';
    };

    await rejectionOf(agentOf(twice, [approval({ ask })]).agent.run('go', { signal: stop.signal }));
    await new Promise((resolve) => setTimeout(resolve, 5));

    expect(asked).toEqual(['c1']);
  });
});
