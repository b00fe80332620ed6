import {
  type Agent,
  type AgentLifecycle,
  HookAction,
  type Message,
  type ModelRequest,
  type RunResult,
  toolResult,
} from 'keelson';
import { recorder, scriptedModel } from 'keelson/testing';
import { expect } from 'vitest';
import { add, addingModel, keepingLogger } from './sample-agent.js';

/** The Agent class under test: the real class, or a class that was built with a fault. */
export type AgentClass = typeof Agent;

/** A check of one rule of the hooks. Rejects if the class breaks the rule. */
export type Clause = (Subject: AgentClass) => Promise<void>;

const asked: Message = { role: 'user', content: 'Hello' };
const call = { type: 'tool-call', id: 'call_1', name: 'add', input: { a: 1, b: 2 } } as const;
const called: Message = { role: 'assistant', content: [call] };
const added: Message = { role: 'tool', content: [{ type: 'tool-result', id: 'call_1', name: 'add', content: '3' }] };
const said: Message = { role: 'assistant', content: [{ type: 'text', text: 'done' }] };

interface Outcome {
  readonly result: RunResult;
  readonly requests: readonly ModelRequest[];
}

/** Runs an agent whose model calls `add` once and then answers `done`. */
async function greet(Subject: AgentClass, ...lifecycle: readonly AgentLifecycle[]): Promise<Outcome> {
  const model = addingModel();
  const agent = new Subject({ model, tools: [add], lifecycle, logger: keepingLogger() });
  return { result: await agent.run('Hello'), requests: model.requests };
}

/** Checks that a missing hook, and a hook that returns undefined, change nothing. */
function passes(hooks: AgentLifecycle, check: (outcome: Outcome) => void): Clause {
  return async (Subject) => {
    for (const lifecycle of [[], [{}], [hooks]]) check(await greet(Subject, ...lifecycle));
  };
}

/** Checks the order of two lifecycles at every hook point. */
const inOrder: Clause = async (Subject) => {
  const record = recorder();
  const only = ['beforeAgent', 'beforeModel', 'beforeToolSelection', 'afterModel', 'afterAgent'] as const;
  const first = record.lifecycle('first', { only });
  await new Subject({ model: scriptedModel('done'), lifecycle: [first, record.lifecycle('second', { only })] }).run('');
  expect(record.log).toEqual(only.flatMap((point) => [`first.${point}`, `second.${point}`]));
};

const nested: Clause = async (Subject) => {
  const record = recorder();
  const only = ['wrapModelCall', 'wrapToolCall'] as const;
  await greet(Subject, record.lifecycle('first', { only }), record.lifecycle('second', { only }));
  const around = (point: string) => [
    ...[`first.${point}>`, `second.${point}>`],
    ...[`<second.${point}`, `<first.${point}`],
  ];
  expect(record.log).toEqual([...around(only[0]), ...around(only[1]), ...around(only[0])]);
};

/** Checks that two lifecycles each change the value at each hook point. */
const threaded: Clause = async (Subject) => {
  const letter = (name: string): AgentLifecycle => ({
    name,
    beforeAgent: (input) => input + name,
    beforeModel: (messages, run) => (run.turn === 1 ? [...messages, { role: 'system', content: name }] : undefined),
    beforeToolSelection: (tools, run) => (run.turn === 1 ? [...tools, { ...add, name: `add-${name}` }] : undefined),
    afterModel: (response, run) =>
      run.turn === 1 ? undefined : HookAction.modify({ ...response, content: [...response.content, text(name)] }),
    afterAgent: (result) => result + name,
  });
  const { result, requests } = await greet(Subject, letter('a'), letter('b'));
  expect(requests[0]?.messages).toEqual([
    { role: 'user', content: 'Helloab' },
    { role: 'system', content: 'a' },
    { role: 'system', content: 'b' },
  ]);
  expect(requests[0]?.tools.map((tool) => tool.name)).toEqual(['add', 'add-a', 'add-b']);
  expect(result.text).toBe('doneabab');
};

function text(value: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: value };
}

/** Runs with a lifecycle whose afterModel returns this action in the first turn, followed by another lifecycle. */
async function judge(
  Subject: AgentClass,
  action: HookAction,
): Promise<{ log: readonly string[]; run: Promise<Outcome> }> {
  const record = recorder();
  const gate: AgentLifecycle = { name: 'gate', afterModel: (_, run) => (run.turn === 1 ? action : undefined) };
  const behind = record.lifecycle('behind', { only: ['afterModel', 'wrapToolCall'] });
  const run = greet(Subject, gate, behind);
  await run.catch(() => {});
  return { log: record.log, run };
}

const wholeRun = ['behind.afterModel', 'behind.wrapToolCall>', '<behind.wrapToolCall', 'behind.afterModel'];

/** All checks by name. */
export const hookContract = {
  'without beforeAgent the input stays': passes({ beforeAgent: () => {} }, ({ requests }) =>
    expect(requests[0]?.messages).toEqual([asked]),
  ),
  'without beforeModel the messages stay': passes({ beforeModel: () => {} }, ({ requests }) =>
    expect(requests[1]?.messages).toEqual([asked, called, added]),
  ),
  'without wrapModelCall the model is called once a turn': passes(
    { wrapModelCall: (_, next) => next() },
    ({ requests }) => expect(requests.map(({ messages }) => messages.length)).toEqual([1, 3]),
  ),
  'without afterModel the response stands': passes({ afterModel: () => {} }, ({ result }) =>
    expect(result.messages).toEqual([asked, called, added, said]),
  ),
  'without wrapToolCall the result of the tool stands': passes({ wrapToolCall: (_, next) => next() }, ({ requests }) =>
    expect(requests[1]?.messages.at(-1)).toEqual(added),
  ),
  'without afterAgent the text stays': passes({ afterAgent: () => {} }, ({ result }) =>
    expect(result.text).toBe('done'),
  ),
  'hooks run in the order in which they were added': inOrder,
  'wraps nest in that order, the first outermost': nested,
  'the value of a hook goes to the next one': threaded,
  'Continue goes on and is not on record': async (Subject) => {
    const { log, run } = await judge(Subject, HookAction.Continue);
    expect(log).toEqual(wholeRun);
    expect((await run).result.decisions).toEqual([]);
  },
  'Approve goes on and is on record': async (Subject) => {
    const { log, run } = await judge(Subject, HookAction.Approve);
    expect(log).toEqual(wholeRun);
    expect((await run).result.decisions).toEqual([{ type: 'approve', by: 'gate', point: 'afterModel', turn: 1 }]);
  },
  'Reject ends the run with its reason, without a later hook or a tool': async (Subject) => {
    const { log, run } = await judge(Subject, HookAction.reject('not today'));
    await expect(run).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED', reason: 'not today', by: 'gate' });
    expect(log).toEqual([]);
  },
  'Respond ends the run with its text, without a later hook or a tool': async (Subject) => {
    const { log, run } = await judge(Subject, HookAction.respond('enough'));
    expect((await run).result).toMatchObject({ status: 'completed', text: 'enough' });
    expect(log).toEqual([]);
  },
  'Suspend ends the run with its calls open': async (Subject) => {
    const { log, run } = await judge(Subject, HookAction.suspend('ask'));
    expect((await run).result).toMatchObject({
      status: 'suspended',
      pending: [{ ...call, reason: 'ask', by: 'gate' }],
    });
    expect(log).toEqual([]);
  },
  'Modify puts another response in place of the first': async (Subject) => {
    const other = {
      content: [text('changed')],
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    } as const;
    const { log, run } = await judge(Subject, HookAction.modify(other));
    expect((await run).result.messages).toEqual([asked, { role: 'assistant', content: other.content }]);
    expect(log).toEqual(['behind.afterModel']);
  },
  'what a hook throws ends the run and names the hook, the point and the cause': async (Subject) => {
    const cause = new RangeError('broken');
    for (const point of ['beforeAgent', 'beforeModel', 'afterModel', 'afterAgent', 'wrapModelCall', 'wrapToolCall']) {
      const throwing = { name: 'bad', [point]: () => Promise.reject(cause) } as AgentLifecycle;
      await expect(greet(Subject, throwing)).rejects.toMatchObject({ lifecycle: 'bad', point, cause });
    }
  },
  'an agent without lifecycles, or with none, runs': async (Subject) => {
    expect((await new Subject({ model: scriptedModel(['done']) }).run('Hello')).text).toBe('done');
    expect((await new Subject({ model: scriptedModel(['done']), lifecycle: [] }).run('Hello')).text).toBe('done');
  },
  'a wrap may change what the call gives': async (Subject) => {
    const { result } = await greet(Subject, {
      wrapModelCall: async (request, next) => {
        const response = await next(request);
        return { ...response, content: response.content.map((part) => (part.type === 'text' ? text('ok') : part)) };
      },
      wrapToolCall: async (request, next) => toolResult({ content: `${request.name}: ${(await next()).content}` }),
    });
    expect([result.text, result.messages[2]?.content]).toEqual([
      'ok',
      [{ ...(added.content[0] as object), content: 'add: 3' }],
    ]);
  },
} satisfies Record<string, Clause>;

/** The name of a check. */
export type ClauseName = keyof typeof hookContract;
