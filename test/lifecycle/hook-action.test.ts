import { inspect } from 'node:util';
import { Agent, type AgentLifecycle, HookAction, type Message, type ModelResponse, type RunContext } from 'keelson';
import { calls, recorder, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { add, addingModel, keepingLogger, POINTS } from '../support/lifecycle/sample-agent.js';

const other: ModelResponse = {
  content: [{ type: 'text', text: 'changed' }],
  finishReason: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};

describe('S4-FR2.3: a HookAction is plain data', () => {
  const actions = [
    [HookAction.Continue, { type: 'continue' }],
    [HookAction.Approve, { type: 'approve' }],
    [HookAction.reject('no'), { type: 'reject', reason: 'no' }],
    [HookAction.respond('yes'), { type: 'respond', text: 'yes' }],
    [HookAction.suspend('ask'), { type: 'suspend', reason: 'ask' }],
    [HookAction.modify(other), { type: 'modify', response: other }],
  ] as const;

  it.each(actions)('%o can be cloned, printed and sent', (action, plain) => {
    expect(action).toEqual(plain);
    expect(structuredClone(action)).toEqual(plain);
    expect(JSON.parse(JSON.stringify(action))).toEqual(plain);
    expect(inspect(action)).toContain(`type: '${plain.type}'`);
  });

  it('the shared actions are frozen', () => {
    expect([Object.isFrozen(HookAction.Continue), Object.isFrozen(HookAction.Approve)]).toEqual([true, true]);
  });
});

/** Starts a run of two turns. A gate between two recorded lifecycles acts at one hook point in the first turn. */
async function runWithGate(point: string, act: (...args: never[]) => unknown) {
  const record = recorder();
  const only = [...POINTS, 'onError'] as const;
  const gate = { name: 'gate', [point]: onFirst(act) } as AgentLifecycle;
  const lifecycle = [record.lifecycle('before', { only }), gate, record.lifecycle('behind', { only })];
  const model = addingModel();
  const agent = new Agent({ model, tools: [add], lifecycle, logger: keepingLogger() });
  const [settled] = await Promise.allSettled([agent.run('Hello')]);
  return { log: record.log, model, settled };
}

function onFirst<Args extends never[]>(act: (...args: Args) => unknown): (...args: Args) => unknown {
  let first = true;
  return (...args) => {
    const acts = first;
    first = false;
    return acts ? act(...args) : undefined;
  };
}

const entries = ['before.beforeAgent', 'behind.beforeAgent'];
const firstTurn = {
  beforeAgent: ['before.beforeAgent'],
  beforeModel: [...entries, 'before.beforeModel'],
  beforeToolSelection: [...entries, 'before.beforeModel', 'behind.beforeModel', 'before.beforeToolSelection'],
  afterModel: [
    ...[...entries, 'before.beforeModel', 'behind.beforeModel'],
    ...['before.beforeToolSelection', 'behind.beforeToolSelection', 'before.wrapModelCall>', 'behind.wrapModelCall>'],
    ...['<behind.wrapModelCall', '<before.wrapModelCall', 'before.afterModel'],
  ],
} as const;
const points = Object.keys(firstTurn) as (keyof typeof firstTurn)[];

/** Returns the expected calls of a hook that only lifecycles whose beforeAgent ran get. */
function entered(point: string, hook: string): string[] {
  return point === 'beforeAgent' ? [`before.${hook}`] : [`before.${hook}`, `behind.${hook}`];
}

const asked: Message = { role: 'user', content: 'Hello' };
const called: Message = {
  role: 'assistant',
  content: [{ type: 'tool-call', id: 'call_1', name: 'add', input: { a: 1, b: 2 } }],
};

function closed(content: unknown): unknown {
  return { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', name: 'add', content, isError: true }] };
}

describe.each(points)('at %s', (point) => {
  const turn = point === 'beforeAgent' ? 0 : 1;

  it('Continue changes nothing and is not recorded', async () => {
    const { log, settled } = await runWithGate(point, () => HookAction.Continue);

    expect(settled).toMatchObject({ status: 'fulfilled', value: { text: 'done', decisions: [] } });
    expect(log).toHaveLength(28);
  });

  it('S4-FR2.2b: Approve changes nothing, is recorded, and later hooks still run', async () => {
    const { log, settled } = await runWithGate(point, () => HookAction.Approve);

    const decisions = [{ type: 'approve', by: 'gate', point, turn }];
    expect(settled).toMatchObject({ status: 'fulfilled', value: { text: 'done', decisions } });
    expect(log).toHaveLength(28);
  });

  it('S4-FR2.2c, H6: Reject ends the run with its reason, and neither a later hook of the same point nor a tool runs', async () => {
    const { log, settled, model } = await runWithGate(point, async () => HookAction.reject('not today'));

    const asking = point === 'afterModel';
    expect(settled).toMatchObject({
      status: 'rejected',
      reason: {
        ...{ code: 'ERR_RUN_REJECTED', reason: 'not today', by: 'gate', point },
        messages: asking ? [asked, called, closed(expect.stringContaining('not today'))] : [asked],
        usage: { totalTokens: asking ? 15 : 0 },
      },
    });
    expect(log).toEqual([...firstTurn[point], ...entered(point, 'onError')]);
    expect(model.requests).toHaveLength(asking ? 1 : 0);
  });

  it('Respond ends the run with its text, and afterAgent is called for each lifecycle whose beforeAgent ran', async () => {
    const { log, settled } = await runWithGate(point, () => HookAction.respond('enough'));

    const answer: Message = { role: 'assistant', content: [{ type: 'text', text: 'enough' }] };
    const open = point === 'afterModel' ? [called, closed(expect.any(String))] : [];
    expect(settled).toMatchObject({
      status: 'fulfilled',
      value: {
        ...{ status: 'completed', text: 'enough', pending: [] },
        messages: [asked, ...open, answer],
        decisions: [{ type: 'respond', by: 'gate', point, turn, reason: 'enough' }],
      },
    });
    expect(log).toEqual([...firstTurn[point], ...entered(point, 'afterAgent')]);
  });

  it('an action may name its source with `by`', async () => {
    const { settled } = await runWithGate(point, () => ({ ...HookAction.reject('no'), by: 'gate/rule 7' }));

    expect(settled).toMatchObject({ status: 'rejected', reason: { by: 'gate/rule 7' } });
  });

  it('an action without its text is a failure of the hook', async () => {
    const { settled } = await runWithGate(point, () => ({ type: 'reject' }));

    const cause = { code: 'ERR_HOOK_RESULT_INVALID' };
    expect(settled).toMatchObject({ status: 'rejected', reason: { lifecycle: 'gate', point, cause } });
  });
});

describe('at afterModel', () => {
  it('Suspend ends the run with its calls open, and afterAgent still runs', async () => {
    const { log, settled } = await runWithGate('afterModel', () => HookAction.suspend('ask'));

    const [call] = called.content as readonly object[];
    expect(settled).toMatchObject({
      status: 'fulfilled',
      value: {
        ...{ status: 'suspended', text: '', messages: [asked, called] },
        pending: [{ ...call, reason: 'ask', by: 'gate' }],
        decisions: [{ type: 'suspend', by: 'gate', point: 'afterModel', turn: 1, reason: 'ask' }],
      },
    });
    expect(log).toEqual([...firstTurn.afterModel, 'before.afterAgent', 'behind.afterAgent']);
  });

  it('Suspend also applies to an answer without tool calls', async () => {
    const gate: AgentLifecycle = { afterModel: () => HookAction.suspend('read it first') };
    const result = await new Agent({ model: scriptedModel(['done']), lifecycle: [gate] }).run('Hello');

    expect(result).toMatchObject({ status: 'suspended', pending: [{ type: 'answer', text: 'done' }] });
  });

  it('S4-FR2.2d, H6: Modify replaces the response for later hooks, the run and the messages', async () => {
    const seen: unknown[] = [];
    const gate: AgentLifecycle = { name: 'gate', afterModel: () => HookAction.modify(other) };
    const behind: AgentLifecycle = { afterModel: (response) => void seen.push(response) };
    const model = scriptedModel([calls('add', { a: 1, b: 2 })]);
    const result = await new Agent({ model, tools: [add], lifecycle: [gate, behind] }).run('Hello');

    expect(seen).toEqual([other]);
    expect(result).toMatchObject({
      ...{ text: 'changed', finishReason: 'stop', turns: 1 },
      messages: [asked, { role: 'assistant', content: other.content }],
    });
  });

  it('two hooks that change one response do not conflict: each hook gets the response of the previous hook', async () => {
    const append = (text: string): AgentLifecycle => ({
      afterModel: (response) =>
        HookAction.modify({ ...response, content: [...response.content, { type: 'text', text }] }),
    });
    const lifecycle = [append(' and'), append(' more')];

    expect((await new Agent({ model: scriptedModel(['done']), lifecycle }).run('Hello')).text).toBe('done and more');
  });

  it('Modify with an invalid response is a failure of the hook', async () => {
    const { settled } = await runWithGate('afterModel', () => ({ type: 'modify', response: { text: 'changed' } }));

    const reason = { lifecycle: 'gate', point: 'afterModel', cause: { code: 'ERR_RESPONSE_INVALID' } };
    expect(settled).toMatchObject({ status: 'rejected', reason });
  });

  it('an action after `run.end` in the same hook has no effect', async () => {
    const { settled } = await runWithGate('afterModel', (_: never, run: never) => {
      (run as RunContext).end(HookAction.respond('first'));
      return HookAction.reject('second');
    });

    const decisions = [{ type: 'respond', point: 'end', reason: 'first' }];
    expect(settled).toMatchObject({ status: 'fulfilled', value: { text: 'first', decisions } });
  });

  it('an approval does not undo a rejection', async () => {
    const approve: AgentLifecycle = { name: 'yes', priority: 60, afterModel: () => HookAction.Approve };
    const reject: AgentLifecycle = { name: 'no', afterModel: () => HookAction.reject('never') };
    const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [approve, reject] });

    await expect(agent.run('Hello')).rejects.toMatchObject({ by: 'no', reason: 'never' });
  });
});

describe('at wrapToolCall', () => {
  const policies = ['throw', 'continue', 'block'] as const;

  it.each(policies)(
    'Suspend leaves the call open with `%s`, and no outer wrap hook can answer the call',
    async (onFailure) => {
      const executed: unknown[] = [];
      const tool = { ...add, execute: () => String(executed.push('add')) };
      const logger = keepingLogger();
      const outer: AgentLifecycle = { onFailure, wrapToolCall: async (_, next) => await next() };
      const saves: AgentLifecycle = {
        onFailure,
        wrapToolCall: (_, next) => next().catch(() => ({ content: 'saved' })),
      };
      const ask: AgentLifecycle = { name: 'ask', onFailure, wrapToolCall: async () => HookAction.suspend('may I?') };
      const lifecycle = [outer, saves, ask];
      const result = await new Agent({ model: addingModel(), tools: [tool], lifecycle, logger }).run('Hello');

      const [call] = called.content as readonly object[];
      expect(result).toMatchObject({ status: 'suspended', messages: [asked, called] });
      expect(result.pending).toEqual([{ ...call, reason: 'may I?', by: 'ask' }]);
      expect([executed, logger.lines]).toEqual([[], []]);
    },
  );

  it('an outer hook sees why an inner hook suspended the call', async () => {
    const seen: unknown[] = [];
    const outer: AgentLifecycle = {
      wrapToolCall: (_, next) =>
        next().catch((error: unknown) => {
          seen.push(error);
          throw error;
        }),
    };
    const lifecycle = [outer, { wrapToolCall: () => HookAction.suspend('Ask Ann.') }];

    const { status } = await new Agent({ model: addingModel(), tools: [add], lifecycle }).run('Hello');

    expect(status).toBe('suspended');
    expect(seen).toMatchObject([{ code: 'ERR_CALL_SUSPENDED', message: 'The call is suspended: Ask Ann.' }]);
  });
});

describe('an action that the hook point does not allow is a failure of the hook', () => {
  const misplaced = [
    ...points
      .slice(0, 3)
      .flatMap((point) => [[point, HookAction.modify(other)] as const, [point, HookAction.suspend('ask')] as const]),
    ...(['wrapModelCall', 'afterAgent'] as const).flatMap((point) =>
      [HookAction.Continue, HookAction.reject('no'), HookAction.respond('no')].map(
        (action) => [point, action] as const,
      ),
    ),
    ['wrapToolCall', HookAction.reject('no')] as const,
    ['wrapToolCall', HookAction.respond('no')] as const,
  ];

  it.each(misplaced)('%s: %o', async (point, action) => {
    const { settled } = await runWithGate(point, () => action);

    const cause = { code: expect.stringMatching(/^ERR_(HOOK_RESULT|RESPONSE)_INVALID$/) };
    const reason = { code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'gate', point, cause };
    expect(settled).toMatchObject({ status: 'rejected', reason });
  });

  it.each([HookAction.reject('no'), HookAction.respond('no')])(
    'the error of wrapToolCall says what takes the action: %o',
    async (action) => {
      const { settled } = await runWithGate('wrapToolCall', () => action);

      const message = expect.stringContaining(`to end the run, call \`call.run.end(HookAction.${action.type}(…))\``);
      expect(settled).toMatchObject({ reason: { cause: { message } } });
    },
  );

  it('the error of wrapModelCall says what takes an action', async () => {
    const { settled } = await runWithGate('wrapModelCall', () => HookAction.reject('no'));

    const message = expect.stringContaining(
      'wrapModelCall must return a model response; `request.run.end()` takes an action',
    );
    expect(settled).toMatchObject({ reason: { cause: { code: 'ERR_HOOK_RESULT_INVALID', message } } });
  });
});

describe('an invalid value is a failure of the hook', () => {
  const values = [
    ...(['beforeAgent', 'afterAgent'] as const).flatMap((point) =>
      [0, null, false, ['a'], {}].map((v) => [point, v] as const),
    ),
    ...(['beforeModel', 'beforeToolSelection'] as const).flatMap((point) =>
      ['text', null, {}, [null], [{ role: 7 }], [{ name: 'x' }]].map((value) => [point, value] as const),
    ),
    ...[other, 'text', null, true, { type: 'approved' }].map((value) => ['afterModel', value] as const),
    ...[undefined, null, 'text', {}, { content: 'text' }, { content: [null] }].map(
      (v) => ['wrapModelCall', v] as const,
    ),
    ...[undefined, null, 'text', {}, { content: 7 }, { content: [{ type: 'text' }] }].map(
      (v) => ['wrapToolCall', v] as const,
    ),
  ];

  it.each(values)('%s: %o', async (point, value) => {
    for (const act of [() => value, async () => value]) {
      const { settled } = await runWithGate(point, act);
      expect(settled).toMatchObject({
        status: 'rejected',
        reason: { code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'gate', point },
      });
    }
  });

  const action = 'an action (continue, approve, reject, respond)';
  const expected = {
    beforeAgent: `beforeAgent must return the input as a string, ${action}, or nothing`,
    beforeModel: `beforeModel must return an array of messages, ${action}, or nothing`,
    beforeToolSelection: `beforeToolSelection must return an array of tools, ${action}, or nothing`,
    afterModel: 'afterModel must return a HookAction or nothing',
    afterAgent: 'afterAgent must return the result as a string, or nothing',
  };

  it.each(Object.entries(expected))('the error of %s says what it must return', async (point, text) => {
    for (const value of [null, 7, { type: 'approved' }]) {
      const cause = { code: 'ERR_HOOK_RESULT_INVALID', message: expect.stringContaining(text) };
      expect((await runWithGate(point, () => value)).settled).toMatchObject({ reason: { cause } });
    }
  });

  it.each([
    ['beforeModel', HookAction.suspend('wait'), `${action}, or nothing; got an object of type "suspend".`],
    ['wrapToolCall', HookAction.Approve, '; got an object of type "approve".'],
    ['beforeToolSelection', [null], '`tools[0]` of beforeToolSelection must be a tool made by `defineTool`; got null.'],
  ])('the error of %s says what it returned', async (point, value, text) => {
    const cause = { code: 'ERR_HOOK_RESULT_INVALID', message: expect.stringContaining(text) };
    expect((await runWithGate(point, () => value)).settled).toMatchObject({ reason: { cause } });
  });

  it.each([
    [{ type: 'reject' }, '"reject" needs a string `reason`'],
    [{ type: 'respond', reason: 'no' }, '"respond" needs a string `text`'],
  ])('the error of the incomplete action %o names the missing member', async (action, text) => {
    const cause = { code: 'ERR_HOOK_RESULT_INVALID', message: expect.stringContaining(text) };
    expect((await runWithGate('beforeAgent', () => action)).settled).toMatchObject({ reason: { cause } });
  });

  it.each([undefined, { type: 'suspend', reason: 'x' }])(
    'run.end refuses %o and says what it takes',
    async (action) => {
      const beforeModel = (_: unknown, run: RunContext) => run.end(action as never);

      expect((await runWithGate('beforeModel', beforeModel as never)).settled).toMatchObject({
        reason: {
          cause: { message: expect.stringContaining('run.end takes HookAction.reject() or HookAction.respond()') },
        },
      });
    },
  );

  it('two tools with the same name from beforeToolSelection', async () => {
    const { settled } = await runWithGate('beforeToolSelection', (tools: never) => [...(tools as unknown[]), add]);

    const cause = { code: 'ERR_TOOL_CONFLICT' };
    const reason = { lifecycle: 'gate', point: 'beforeToolSelection', cause, messages: [asked] };
    expect(settled).toMatchObject({ status: 'rejected', reason });
  });
});
