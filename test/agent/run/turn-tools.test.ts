import { Agent, type AgentLifecycle, createToolSet, type RunError, type Tool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { resultsIn } from '../../support/agent/transcript.js';

const named = (name: string) => toolOf(name, () => `ran ${name}`);
const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

describe('the tools of a turn are a snapshot', () => {
  test('a tool that beforeToolSelection hides cannot be called in that turn', async () => {
    const model = scriptedModel([calls('secret'), calls('secret'), 'done']);
    const agent = new Agent({
      model,
      tools: [named('open'), named('secret')],
      lifecycle: [
        {
          beforeToolSelection: (tools, run) =>
            run.turn === 1 ? tools.filter(({ name }) => name === 'open') : undefined,
        },
      ],
    });

    const { messages } = await agent.run('go');

    expect(model.requests.map(({ tools }) => namesOf(tools))).toEqual([
      ['open'],
      ['open', 'secret'],
      ['open', 'secret'],
    ]);
    expect(resultsIn(messages)).toEqual({
      call_1: '!There is no tool "secret". Tools: open.',
      call_2: 'ran secret',
    });
  });

  test('a hook that renames a call cannot reach a hidden tool', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('open'), 'done']),
      tools: [named('open'), named('secret')],
      lifecycle: [
        { beforeToolSelection: (tools) => tools.filter(({ name }) => name === 'open') },
        { wrapToolCall: (call, next) => next({ ...call, name: 'secret' }) },
      ],
    });

    expect(resultsIn((await agent.run('go')).messages)).toEqual({ call_1: '!There is no tool "secret". Tools: open.' });
  });

  test('a renamed call finds its tool in the snapshot, and its result keeps the original name', async () => {
    const seen: string[] = [];
    const target = toolOf('new_name', (input, { toolName }) => `${toolName} ${seen.push(JSON.stringify(input))}`);
    const agent = new Agent({
      model: scriptedModel([calls('old_name', { n: 1 }), 'done']),
      tools: [target],
      lifecycle: [{ wrapToolCall: (call, next) => next({ ...call, name: 'new_name' }) }],
    });

    const { messages } = await agent.run('go');

    expect(seen).toEqual(['{"n":1}']);
    expect(messages[2]).toMatchObject({ content: [{ id: 'call_1', name: 'old_name', content: 'new_name 1' }] });
  });

  test('a tool that beforeToolSelection adds can be called in that turn', async () => {
    const model = scriptedModel([calls('extra'), calls('extra'), 'done']);
    const agent = new Agent({
      model,
      tools: [echo],
      lifecycle: [{ beforeToolSelection: (tools, run) => (run.turn === 1 ? [...tools, named('extra')] : undefined) }],
    });

    expect(resultsIn((await agent.run('go')).messages)).toEqual({
      call_1: 'ran extra',
      call_2: '!There is no tool "extra". Tools: echo.',
    });
  });

  test('two tools with the same name end the run with an error that names the lifecycle', async () => {
    const agent = new Agent({
      model: scriptedModel(['never']),
      tools: [echo],
      lifecycle: [{ name: 'doubling', beforeToolSelection: (tools) => [...tools, ...tools] }],
    });

    const error = (await rejectionOf(agent.run('go'))) as RunError;

    expect(error).toMatchObject({
      code: 'ERR_LIFECYCLE_FAILED',
      lifecycle: 'doubling',
      point: 'beforeToolSelection',
      cause: { code: 'ERR_TOOL_CONFLICT', tool: 'echo' },
      messages: [{ role: 'user', content: 'go' }],
    });
  });

  test('a hook that changes the array in place does not affect the agent or other runs', async () => {
    const agent = new Agent({
      model: scriptedModel('done'),
      tools: [echo, named('other')],
      lifecycle: [{ onFailure: 'continue', beforeToolSelection: (tools) => void (tools as Tool[]).reverse().pop() }],
      logger: keepingLogger(),
    });

    await agent.run('go');

    expect(namesOf(agent.status().tools)).toEqual(['echo', 'other']);
  });

  test('`run.tools` has all tools before the first turn, then the tools of the turn', async () => {
    const seen: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel(['done']),
      tools: [echo, named('other')],
      lifecycle: [
        {
          beforeAgent: (_input, run) => void seen.push(namesOf(run.tools)),
          beforeToolSelection: (tools) => tools.slice(1),
          afterModel: (_response, run) => void seen.push(namesOf(run.tools)),
        },
      ],
    });

    await agent.run('go');

    expect(seen).toEqual([['echo', 'other'], ['other']]);
  });

  test('each of more than eight tools is found by its name', async () => {
    const tools = Array.from({ length: 30 }, (_, at) => named(`t${at}`));
    const wanted = [calls({ name: 't0' }, { name: 't17' }, { name: 't29' }, { name: 't30' }), 'done'];

    const results = resultsIn((await new Agent({ model: scriptedModel(wanted), tools }).run('go')).messages);

    expect(Object.values(results)).toEqual([
      'ran t0',
      'ran t17',
      'ran t29',
      expect.stringMatching(/^!There is no tool "t30"/),
    ]);
  });
});

describe('a live tool set', () => {
  test('may change between turns, and a turn keeps its snapshot', async () => {
    const set = createToolSet([named('first')]);
    const change = toolOf('change', () => {
      set.remove('first');
      set.add(named('second'));
      return 'changed';
    });
    const model = scriptedModel([
      calls({ name: 'change' }, { name: 'first' }, { name: 'second' }),
      calls({ name: 'first' }, { name: 'second' }),
      'done',
    ]);
    const agent = new Agent({ model, tools: [change], lifecycle: [{ tools: set }], parallelToolCalls: false });

    const results = resultsIn((await agent.run('go')).messages);

    expect(results).toEqual({
      call_1: 'changed',
      call_2: 'ran first',
      call_3: '!There is no tool "second". Tools: change, first.',
      call_4: '!There is no tool "first". Tools: change, second.',
      call_5: 'ran second',
    });
    expect(model.requests.map(({ tools }) => namesOf(tools))).toEqual([
      ['change', 'first'],
      ['change', 'second'],
      ['change', 'second'],
    ]);
    expect(namesOf(agent.status().tools)).toEqual(['change', 'second']);
  });

  test('is read once per turn, and its list only after a change of the revision', async () => {
    let lists = 0;
    const set = {
      revision: 0,
      list() {
        lists += 1;
        return [named('live')];
      },
    };
    const agent = new Agent({ model: scriptedModel([calls('live'), calls('live'), 'done', 'done']), tools: set });
    lists = 0;

    await agent.run('go');
    expect(lists).toBe(0);

    set.revision += 1;
    await agent.run('go');
    expect(lists).toBe(1);
  });

  test('that adds a tool with an existing name does not replace the old tool, and the conflict is logged', async () => {
    const logger = keepingLogger();
    const set = createToolSet();
    const model = scriptedModel([calls('echo', { text: 'mine' }), 'done']);
    const agent = new Agent({ model, tools: [echo], lifecycle: [{ tools: set }], logger });
    set.add(
      toolOf('echo', () => 'hijacked'),
      named('fine'),
    );

    const { messages } = await agent.run('go');

    expect(resultsIn(messages)).toEqual({ call_1: 'mine' });
    expect(namesOf(model.requests[0]?.tools ?? [])).toEqual(['echo', 'fine']);
    expect(logger.lines).toEqual(['error: Tool "echo" is left out, because another tool has the same name.']);
  });

  test('with an existing name does not prevent adding or removing other lifecycles', async () => {
    const set = createToolSet();
    const agent = new Agent({
      model: scriptedModel('done'),
      tools: [echo],
      lifecycle: [{ name: 'live', tools: set }],
      logger: keepingLogger(),
    });
    const remove = agent.use({ name: 'before' });
    set.add(toolOf('echo', () => 'hijacked'));

    expect(() => agent.use({ name: 'after' })).not.toThrow();
    expect(() => remove()).not.toThrow();
    expect(agent.status().lifecycles.map(({ name }) => name)).toEqual(['live', 'after']);
  });

  test('whose list throws has no tools, the run continues, and the error is logged', async () => {
    let broken = false;
    const breakIt = () => {
      broken = true;
      return 'ok';
    };
    const set = {
      get revision() {
        return broken ? 1 : 0;
      },
      list() {
        if (broken) throw new Error('server gone');
        return [toolOf('break', breakIt)];
      },
    };
    const logger = keepingLogger();
    const model = scriptedModel([calls('break'), 'done']);

    const { text } = await new Agent({ model, tools: set, logger }).run('go');

    expect(text).toBe('done');
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0]);
    expect(logger.lines).toEqual([expect.stringContaining('server gone')]);
  });

  test('can be the tools of one run', async () => {
    const set = createToolSet([named('only')]);
    const model = scriptedModel([calls('only'), 'done']);

    const { messages } = await new Agent({ model, tools: [echo] }).run('go', { tools: set });

    expect(resultsIn(messages)).toEqual({ call_1: 'ran only' });
  });
});

describe('the tool that a wrap hook gets', () => {
  test.each<[string, object]>([
    ['another tool of that name', { tool: { ...echo, annotations: { readOnly: true } } }],
    ['a tool of another name', { tool: named('other') }],
    ['no tool', { tool: undefined }],
  ])('is the tool that will run, if an outer wrap hook passes on %s', async (_title, change) => {
    const seen: unknown[] = [];
    const outer: AgentLifecycle = { wrapToolCall: (call, next) => next({ ...call, ...change }) };
    const inner: AgentLifecycle = {
      wrapToolCall(call, next) {
        seen.push(call.tool);
        return next();
      },
    };
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'mine' }), 'done']),
      tools: [echo],
      lifecycle: [outer, inner],
    });

    const { messages } = await agent.run('go');

    expect(seen).toEqual([echo]);
    expect(resultsIn(messages)).toEqual({ call_1: 'mine' });
  });

  test('is the tool that will run, if an outer wrap hook changed the name in place', async () => {
    const seen: unknown[] = [];
    const renaming: AgentLifecycle = { wrapToolCall: (call, next) => next(Object.assign(call, { name: 'other' })) };
    const inner: AgentLifecycle = {
      wrapToolCall(call, next) {
        seen.push(call.tool?.name);
        return next();
      },
    };
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'mine' }), 'done']),
      tools: [echo, named('other')],
      lifecycle: [renaming, inner],
    });

    expect(resultsIn((await agent.run('go')).messages)).toEqual({ call_1: 'ran other' });
    expect(seen).toEqual(['other']);
  });
});

describe('the tools of a lifecycle', () => {
  test('are added and removed with it, and come after the tools of the agent', async () => {
    const model = scriptedModel('done');
    const agent = new Agent({ model, tools: [named('own')] });
    const remove = agent.use({ tools: [named('brought')] });

    await agent.run('go');
    remove();
    await agent.run('go');

    expect(model.requests.map(({ tools }) => namesOf(tools))).toEqual([['own', 'brought'], ['own']]);
  });

  test('with the name of another tool are refused, and the lifecycle is not added', () => {
    const agent = new Agent({ model: scriptedModel([]), tools: [echo] });
    const clashing: readonly Tool[] = [named('fine'), { ...echo }];

    expect(() => agent.use({ name: 'clashing', tools: clashing })).toThrow(
      expect.objectContaining({ code: 'ERR_TOOL_CONFLICT', tool: 'echo' }),
    );
    expect(agent.status()).toMatchObject({ lifecycles: [], tools: [{ name: 'echo' }] });
  });
});
