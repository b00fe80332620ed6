import { Agent, type AgentLifecycle, type Decision, HookAction, type Message, type Tool } from 'keelson';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { add, addingModel, keepingLogger } from '../support/lifecycle/sample-agent.js';

const open: Tool = { ...add, name: 'open', check: (value) => ({ value }), execute: (input) => JSON.stringify(input) };

async function decisionsOf(
  lifecycle: AgentLifecycle | readonly AgentLifecycle[],
  script: readonly ScriptEntry[] = [calls('add', { a: 1, b: 2 }), 'done'],
): Promise<readonly Decision[]> {
  const parts = Array.isArray(lifecycle) ? lifecycle : [lifecycle];
  const agent = new Agent({
    model: scriptedModel(script),
    tools: [add, open],
    lifecycle: parts,
    logger: keepingLogger(),
  });
  return (await agent.run('Hello')).decisions;
}

const call = { id: 'call_1', name: 'add' };

describe('the record of decisions', () => {
  it('is empty if no lifecycle made a decision', async () => {
    const passing: AgentLifecycle = {
      beforeAgent: (input) => input,
      beforeModel: (messages) => messages,
      beforeToolSelection: (tools) => tools,
      wrapModelCall: (request, next) => next({ ...request }),
      afterModel: () => HookAction.Continue,
      wrapToolCall: (request, next) => next({ ...request }),
      afterAgent: (text) => text,
    };

    expect(await decisionsOf(passing)).toEqual([]);
  });

  it('is empty if the hooks return undefined', async () => {
    const nothing = () => undefined;
    const silent: AgentLifecycle = {
      beforeAgent: nothing,
      beforeModel: nothing,
      beforeToolSelection: nothing,
      afterModel: nothing,
      afterAgent: nothing,
    };

    expect(await decisionsOf(silent)).toEqual([]);
  });

  it('has the values before and after the change at each hook point', async () => {
    const decisions = await decisionsOf({
      name: 'editor',
      beforeAgent: (input) => `${input}!`,
      beforeModel: (messages, run) => (run.turn === 2 ? messages.slice(0, 1) : undefined),
      beforeToolSelection: (tools, run) => (run.turn === 2 ? tools.slice(0, 1) : undefined),
      afterAgent: (text) => text.toUpperCase(),
    });

    const editor = { type: 'modify', by: 'editor' };
    expect(decisions).toEqual([
      { ...editor, point: 'beforeAgent', turn: 0, before: 'Hello', after: 'Hello!' },
      { ...editor, point: 'beforeModel', turn: 2, before: 3, after: 1 },
      { ...editor, point: 'beforeToolSelection', turn: 2, before: ['add', 'open'], after: ['add'] },
      { ...editor, point: 'afterAgent', turn: 2, before: 'done', after: 'DONE' },
    ]);
  });

  it('has both responses if afterModel modified one', async () => {
    const after = {
      content: [{ type: 'text', text: 'else' }],
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    } as const;
    const [decision] = await decisionsOf({ name: 'editor', afterModel: () => HookAction.modify(after) }, ['done']);

    const before = expect.objectContaining({ content: [{ type: 'text', text: 'done' }] });
    expect(decision).toEqual({ type: 'modify', by: 'editor', point: 'afterModel', turn: 1, before, after });
  });

  it('has the raw and the changed arguments of a call', async () => {
    const rewrite = (name: string, input: unknown): AgentLifecycle => ({
      name,
      wrapToolCall: (request, next) => next({ ...request, input }),
    });
    const decisions = await decisionsOf([rewrite('outer', { a: 5, b: 2 }), rewrite('inner', { a: 5, b: 6 })]);

    const modify = { type: 'modify', point: 'wrapToolCall', turn: 1, call };
    expect(decisions).toEqual([
      { ...modify, by: 'outer', before: { a: 1, b: 2 }, after: { a: 5, b: 2 } },
      { ...modify, by: 'inner', before: { a: 5, b: 2 }, after: { a: 5, b: 6 } },
    ]);
  });

  it('has the raw string of arguments that are not JSON', async () => {
    const repair: AgentLifecycle = {
      name: 'repair',
      wrapToolCall: (request, next) => next({ ...request, input: { a: 1, b: 2 } }),
    };
    const decisions = await decisionsOf(repair, [calls({ name: 'add', invalidInput: '{a: 1' }), 'done']);

    expect(decisions).toEqual([
      { type: 'modify', by: 'repair', point: 'wrapToolCall', turn: 1, call, before: '{a: 1', after: { a: 1, b: 2 } },
    ]);
  });

  it('also has the tool name and the additions if one of them changed', async () => {
    const redirect: AgentLifecycle = {
      name: 'redirect',
      wrapToolCall: (request, next) => next({ ...request, name: 'open', additions: { note: 'n' } }),
    };

    const before = { name: 'add', input: { a: 1, b: 2 } };
    expect(await decisionsOf(redirect)).toEqual([
      {
        type: 'modify',
        by: 'redirect',
        point: 'wrapToolCall',
        turn: 1,
        call,
        before,
        after: { ...before, name: 'open', additions: { note: 'n' } },
      },
    ]);
  });

  it.each([
    ['additions', { additions: { note: 'n' } }],
    ['the name', { name: 'open' }],
  ])('is made if a wrap hook changes only %s', async (_case, change) => {
    const redirect: AgentLifecycle = {
      name: 'redirect',
      wrapToolCall: (request, next) => next({ ...request, ...change }),
    };

    const before = { name: 'add', input: { a: 1, b: 2 } };
    expect(await decisionsOf(redirect)).toEqual([
      { type: 'modify', by: 'redirect', point: 'wrapToolCall', turn: 1, call, before, after: { ...before, ...change } },
    ]);
  });

  it('has the result of a call before and after a wrap hook changed it', async () => {
    const redact: AgentLifecycle = {
      name: 'redact',
      wrapToolCall: async (_, next) => ({ ...(await next()), content: '***' }),
    };

    expect(await decisionsOf(redact)).toEqual([
      { type: 'modify', by: 'redact', point: 'wrapToolCall', turn: 1, call, before: '3', after: '***' },
    ]);
  });

  it('has the result of the last call of `next` if a wrap hook called it twice', async () => {
    const twice: AgentLifecycle = {
      name: 'twice',
      async wrapToolCall(request, next) {
        await next();
        await next({ ...request, input: { a: 5, b: 6 } });
        return { content: '***' };
      },
    };

    const decisions = await decisionsOf(twice);
    expect(decisions.at(-1)).toMatchObject({ type: 'modify', by: 'twice', before: '11', after: '***' });
  });

  it('names the lifecycle that answered or blocked a tool call', async () => {
    const cache: AgentLifecycle = { name: 'cache', wrapToolCall: () => ({ content: '3' }) };
    const policy: AgentLifecycle = { name: 'policy', wrapToolCall: () => ({ content: 'Not here.', isError: true }) };

    const at = { point: 'wrapToolCall', turn: 1, call };
    expect(await decisionsOf(cache)).toEqual([{ type: 'respond', by: 'cache', ...at, after: '3' }]);
    expect(await decisionsOf(policy)).toEqual([{ type: 'block', by: 'policy', ...at, after: 'Not here.' }]);
  });

  it('names the lifecycle that changed or answered a model call, or changed its response', async () => {
    const response = {
      content: [{ type: 'text', text: 'cached' }],
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    } as const;
    const cooler: AgentLifecycle = {
      name: 'cooler',
      wrapModelCall: (request, next) => next({ ...request, settings: { temperature: 0 } }),
    };
    const cache: AgentLifecycle = { name: 'cache', wrapModelCall: () => response };
    const editor: AgentLifecycle = { name: 'editor', wrapModelCall: (_, next) => next().then(() => response) };

    const at = { point: 'wrapModelCall', turn: 1 };
    const before = expect.objectContaining({ content: [{ type: 'text', text: 'done' }] });
    expect(await decisionsOf(cooler, ['done'])).toEqual([{ type: 'modify', by: 'cooler', ...at, after: ['settings'] }]);
    expect(await decisionsOf(cache, [])).toEqual([{ type: 'respond', by: 'cache', ...at, after: response }]);
    expect(await decisionsOf(editor, ['done'])).toEqual([
      { type: 'modify', by: 'editor', ...at, before, after: response },
    ]);
  });

  it.each([
    ['set', new AbortController().signal],
    ['removed', undefined],
  ])('names the lifecycle that %s the signal of a model call', async (_how, signal) => {
    const own: AgentLifecycle = {
      name: 'own',
      wrapModelCall: async (request, next) => {
        await next({ ...request, signal: request.signal });
        return next({ ...request, signal });
      },
    };
    const agent = new Agent({ model: scriptedModel(['one', 'two']), lifecycle: [own] });

    const { decisions } = await agent.run('Hello', { signal: new AbortController().signal });

    expect(decisions).toEqual([{ type: 'modify', by: 'own', point: 'wrapModelCall', turn: 1, after: ['signal'] }]);
  });

  it('names the lifecycle that suspended a call', async () => {
    const ask: AgentLifecycle = { name: 'ask', wrapToolCall: () => HookAction.suspend('may I?') };

    expect(await decisionsOf(ask)).toEqual([
      { type: 'suspend', by: 'ask', point: 'wrapToolCall', turn: 1, reason: 'may I?', call },
    ]);
  });

  it('names the lifecycle that failed, and the call that it failed at', async () => {
    const failing = (onFailure: 'continue' | 'block'): AgentLifecycle => ({
      ...{ name: 'bad', onFailure },
      wrapToolCall: (request, next) => (request.id === 'call_2' ? Promise.reject(new TypeError('boom')) : next()),
    });
    const script = [calls({ name: 'add', input: { a: 1, b: 2 } }, { name: 'open' }), 'done'];

    const at = { by: 'bad', point: 'wrapToolCall', turn: 1, reason: 'boom', call: { id: 'call_2', name: 'open' } };
    expect(await decisionsOf(failing('continue'), script)).toEqual([{ type: 'pass', ...at }]);
    expect(await decisionsOf(failing('block'), script)).toEqual([{ type: 'block', ...at }]);
  });

  it('has one entry for the lifecycle that ended the run with `run.end`', async () => {
    const ending: AgentLifecycle = {
      beforeModel: (_, run) => {
        run.end({ ...HookAction.respond('over'), by: 'budget' });
        run.end(HookAction.respond('too late'));
      },
    };

    expect(await decisionsOf(ending, [])).toEqual([
      { type: 'respond', by: 'budget', point: 'end', turn: 1, reason: 'over' },
    ]);
  });

  it('has the decisions on the calls of a resumed run', async () => {
    const history: Message[] = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: ['a', 'b'].map((id) => ({ type: 'tool-call', id, name: 'open', input: {} })) },
    ];
    const resume = { a: 'approve', b: { deny: 'no' } } as const;
    const agent = new Agent({ model: scriptedModel(['done']), tools: [open] });
    const { decisions } = await agent.run('', { messages: history, resume });

    const at = { by: 'resume', point: 'resume', turn: 0 };
    expect(decisions).toEqual([
      { type: 'approve', ...at, call: { id: 'a', name: 'open' } },
      { type: 'block', ...at, reason: 'no', call: { id: 'b', name: 'open' } },
    ]);
  });

  it('keeps the order of the decisions, and listeners get each decision when it is made', async () => {
    const told: Decision[] = [];
    const approve = (name: string): AgentLifecycle => ({
      name,
      beforeModel: () => HookAction.Approve,
      afterModel: () => HookAction.Approve,
    });
    const agent = new Agent({ model: addingModel(), tools: [add], lifecycle: [approve('a'), approve('b')] });
    agent.on('decision', ({ decision }) => void told.push(decision));

    const { decisions } = await agent.run('Hello');

    const turn = ['a.beforeModel', 'b.beforeModel', 'a.afterModel', 'b.afterModel'];
    expect(decisions.map(({ by, point }) => `${by}.${point}`)).toEqual([...turn, ...turn]);
    expect(told).toEqual(decisions);
  });

  it('is plain data', async () => {
    const decisions = await decisionsOf({
      name: 'editor',
      beforeAgent: (input) => `${input}!`,
      afterModel: () => HookAction.Approve,
    });

    expect(JSON.parse(JSON.stringify(decisions))).toEqual(decisions);
  });
});
