import { Agent, type AgentOptions, defineTool, type RunOptions } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../support/agent/sample-tools.js';
import { rejectionOf } from '../support/agent/settle.js';

const model = scriptedModel('done');
const make = (options: object) => () => new Agent({ model, ...options } as AgentOptions);

test('a tool, a schema and a session that are passed in the form of another library are refused with the right one', async () => {
  const agent = new Agent({ model });
  const tools = [agent] as never;
  const session = agent.session as (options: unknown) => Promise<unknown>;
  const definition = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => '' };

  expect(make({ tools })).toThrow('`tools[0]` must be a tool; pass `agent.asTool({ description })`');
  expect(() => defineTool(definition as never)).toThrow('rename `inputSchema` to `input`');
  expect(() => agent.asTool({ description: 'Helps.', inputs: {} } as never)).toThrow(
    'unknown option `inputs`; did you mean `input`?',
  );
  await expect(session.call(agent, 'ada')).rejects.toThrow('`options` must be an object such as `{ id }`, got "ada"');
});

describe('an agent with an invalid option is refused', () => {
  test.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model'],
    ['null as model', { model: null }, 'model'],
    ['a model that is a string', { model: 'gpt' }, 'model'],
    ['a model without generate', { model: { id: 'm' } }, 'model.generate'],
    ['a model without id', { model: { generate: async () => {} } }, 'model.id'],
    ['an empty name', { name: '' }, 'name'],
    ['a name that is a number', { name: 5 }, 'name'],
    ['instructions that are an array', { instructions: ['x'] }, 'instructions'],
    ['maxTurns 0', { maxTurns: 0 }, 'maxTurns'],
    ['maxTurns -1', { maxTurns: -1 }, 'maxTurns'],
    ['maxTurns 1.5', { maxTurns: 1.5 }, 'maxTurns'],
    ['maxTurns NaN', { maxTurns: Number.NaN }, 'maxTurns'],
    ['maxTurns Infinity', { maxTurns: Number.POSITIVE_INFINITY }, 'maxTurns'],
    ['maxTurns as a string', { maxTurns: '5' }, 'maxTurns'],
    ['maxTurns with limit 0', { maxTurns: { limit: 0 } }, 'maxTurns.limit'],
    ['maxTurns with total 0', { maxTurns: { total: 0 } }, 'maxTurns.total'],
    ['maxTurns with an unknown member', { maxTurns: { limit: 5, max: 1 } }, 'maxTurns.max'],
    ['maxTurns with an unknown atLimit', { maxTurns: { limit: 5, atLimit: 'stop' } }, 'maxTurns.atLimit'],
    ['parallelToolCalls 0', { parallelToolCalls: 0 }, 'parallelToolCalls'],
    ['parallelToolCalls -1', { parallelToolCalls: -1 }, 'parallelToolCalls'],
    ['parallelToolCalls 1.5', { parallelToolCalls: 1.5 }, 'parallelToolCalls'],
    ['parallelToolCalls NaN', { parallelToolCalls: Number.NaN }, 'parallelToolCalls'],
    ['parallelToolCalls as a string', { parallelToolCalls: 'yes' }, 'parallelToolCalls'],
    ['an unknown option', { maxSteps: 5 }, 'maxSteps'],
    ['a hook among the options', { beforeAgent: () => {} }, 'beforeAgent'],
    ['an unknown time-out', { timeouts: { totalMs: 5 } }, 'timeouts.totalMs'],
    ['null as time-outs', { timeouts: null }, 'timeouts'],
    ['an unknown setting', { settings: { temprature: 1 } }, 'settings.temprature'],
    ['null as settings', { settings: null }, 'settings'],
    ['settings that are a number', { settings: 5 }, 'settings'],
    ['a number as time-outs', { timeouts: 5_000 }, 'timeouts'],
    ['a string as settings', { settings: 'fast' }, 'settings'],
    ['tools that are a string', { tools: 'echo' }, 'tools'],
    ['tools that are a number', { tools: 5 }, 'tools'],
    ['tools that are an object without a list', { tools: { revision: 0 } }, 'tools'],
    ['null among the tools', { tools: [null] }, 'tools[0]'],
    ['a string among the tools', { tools: ['echo'] }, 'tools[0]'],
    ['a tool without name', { tools: [echo, { ...echo, name: undefined }] }, 'tools[1]'],
    ['a tool whose execute is a string', { tools: [{ ...echo, execute: 'x' }] }, 'tools[0]'],
    ['a tool without check', { tools: [{ ...echo, check: undefined }] }, 'tools[0]'],
    ['a lifecycle with an invalid tool', { lifecycle: [{ tools: [{}] }] }, 'tools[0]'],
    ['a lifecycle that is not in an array', { lifecycle: {} }, 'lifecycle'],
    ['loaders that are an object', { loaders: { load() {} } }, 'loaders'],
    ['a loader without load', { loaders: [{ name: 'x' }] }, 'loaders[0].load'],
    ['null as a loader', { loaders: [null] }, 'loaders[0]'],
    ['a clock without timers', { clock: { now: () => 0 } }, 'clock.setTimeout'],
    ['ids that are a function', { ids: () => 'x' }, 'ids.next'],
    ['a logger without methods', { logger: {} }, 'logger.debug'],
    ['a logger that is a string', { logger: 'console' }, 'logger'],
    ['a store without claims', { store: { load() {}, delete() {} } }, 'store.claim'],
  ])('%s', (_title, options, option) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }));
  });

  test.each(['runMs', 'modelMs', 'firstPartMs', 'toolMs'])('a timeout %s beyond the range of timers', (key) => {
    for (const ms of [0, 0.5, -1, Number.NaN, 1e12, 2 ** 31, Number.POSITIVE_INFINITY, '5', null]) {
      const invalid = {
        code: 'ERR_OPTION_INVALID',
        option: `timeouts.${key}`,
        message: expect.stringContaining(String(ms)),
      };
      expect(make({ timeouts: { [key]: ms } })).toThrow(expect.objectContaining(invalid));
    }
    expect(make({ timeouts: { [key]: 2 ** 31 - 1 } })).not.toThrow();
    expect(make({ timeouts: { [key]: undefined } })).not.toThrow();
  });

  test('the message names the expected form of the option', () => {
    expect(make({ tools: { add: 1 } as never })).toThrow(
      '`tools` must be an array of tools, or a tool set made by `createToolSet`, got an object',
    );
  });

  test('the message quotes a string, in contrast to a number', () => {
    expect(make({ maxTurns: '5' })).toThrow(
      '`maxTurns` must be a whole number of 1 or more, or `{ limit, total, atLimit }`, got "5"',
    );
    expect(make({ lifecycle: [{ priority: '5' } as never] })).toThrow(
      '`priority` must be a number from 0 to 100, got "5"',
    );
    expect(make({ timeouts: { runMs: '5' } })).toThrow(
      '`timeouts.runMs` must be milliseconds from 1 to 2147483647, got "5"',
    );
  });

  test('the message names the nearest known option', () => {
    expect(make({ instructions: 5 })).toThrow('`instructions` must be a string or a function, got 5');
    expect(make({ settings: null })).toThrow('`settings` must be an object, got null');
    expect(make({ settings: { temprature: 1 } })).toThrow(
      'unknown option `settings.temprature`; did you mean `temperature`?',
    );
  });

  test('a missing options object', () => {
    expect(() => new Agent(undefined as unknown as AgentOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'options' }),
    );
  });

  test('two tools with one name, in the tools or in a lifecycle', () => {
    const conflict = expect.objectContaining({ code: 'ERR_TOOL_CONFLICT', tool: 'echo' });

    expect(make({ tools: [echo, { ...echo }] })).toThrow(conflict);
    expect(make({ tools: [echo], lifecycle: [{ tools: [{ ...echo }] }] })).toThrow(conflict);
    expect(make({ lifecycle: [{ tools: [echo] }, { tools: [echo] }] })).toThrow(conflict);
  });

  test('an invalid lifecycle', () => {
    expect(make({ lifecycle: [null] })).toThrow(expect.objectContaining({ code: 'ERR_LIFECYCLE_INVALID' }));
  });

  test('undefined selects the default of every option', async () => {
    const keys = ['name', 'instructions', 'tools', 'lifecycle', 'loaders', 'maxTurns', 'parallelToolCalls', 'settings'];
    const more = ['timeouts', 'store', 'logger', 'clock', 'ids'];
    const options = Object.fromEntries([...keys, ...more].map((key) => [key, undefined]));

    const agent = make(options)();

    expect([agent.name, (await agent.run('go')).text]).toEqual(['agent', 'done']);
  });
});

describe('a run with an invalid option is not started', () => {
  test.each<[string, object, string]>([
    ['an unknown option', { maxSteps: 5 }, 'maxSteps'],
    ['an option that only an agent has', { instructions: 'x' }, 'instructions'],
    ['maxTurns 0', { maxTurns: 0 }, 'maxTurns'],
    ['maxTurns NaN', { maxTurns: Number.NaN }, 'maxTurns'],
    ['an invalid model', { model: {} }, 'model.id'],
    ['a time-out of 0', { timeouts: { runMs: 0 } }, 'timeouts.runMs'],
    ['a time-out of NaN', { timeouts: { toolMs: Number.NaN } }, 'timeouts.toolMs'],
    ['an output that is a string', { output: 'json' }, 'output'],
    ['an output that is an array', { output: [] }, 'output'],
    ['an invalid tool', { tools: [{ name: 'x' }] }, 'tools[0]'],
    ['an invalid signal', { signal: { aborted: false } }, 'signal.addEventListener'],
    ['null as signal', { signal: null }, 'signal'],
    ['time-outs that are a number', { timeouts: 5 }, 'timeouts'],
    ['settings that are a string', { settings: 'hot' }, 'settings'],
    ['an unknown setting', { settings: { max_tokens: 5 } }, 'settings.max_tokens'],
    ['an invalid parent', { parent: {} }, 'parent'],
    ['null as parent', { parent: null }, 'parent'],
    ['null as options', null as unknown as object, 'options'],
    ['a string as options', 'fast' as unknown as object, 'options'],
  ])('%s', async (_title, options, option) => {
    const touched: string[] = [];
    const agent = new Agent({ model, lifecycle: [{ beforeAgent: () => void touched.push('run') }] });

    const error = await rejectionOf(agent.run('go', options as RunOptions));

    expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option });
    expect(touched).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['a number', 5],
    ['nothing', undefined],
    ['null', null],
    ['a message of the assistant', { role: 'assistant', content: [{ type: 'text', text: 'x' }] }],
    ['a message of a tool', { role: 'tool', content: [] }],
    ['a message without content', { role: 'user' }],
    ['an array of messages', [{ role: 'user', content: 'x' }]],
  ])('an input that is %s', async (_title, input) => {
    const error = await rejectionOf(new Agent({ model }).run(input as string));

    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID' });
  });

  test('tools that share a name with those of a lifecycle', async () => {
    const agent = new Agent({ model, lifecycle: [{ tools: [echo] }] });

    expect(await rejectionOf(agent.run('go', { tools: [echo] }))).toMatchObject({ code: 'ERR_TOOL_CONFLICT' });
  });

  test('an invalid option is refused before the loaders have finished', async () => {
    const agent = new Agent({ model, loaders: [{ name: 'slow', load: () => new Promise(() => {}) }] });

    for (const options of [null, { signal: {} }, { maxTurns: 0 }]) {
      expect(await rejectionOf(agent.run('go', options as RunOptions))).toMatchObject({ code: 'ERR_OPTION_INVALID' });
    }
  });

  test('a session with an invalid store', async () => {
    const opening = new Agent({ model }).session({ store: { load() {} } as never });

    expect(await rejectionOf(opening)).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'store.claim' });
  });

  test('a session with an id that is not a string', async () => {
    for (const id of ['', 5 as unknown as string]) {
      expect(await rejectionOf(new Agent({ model }).session({ id }))).toMatchObject({ code: 'ERR_OPTION_INVALID' });
    }
  });

  test('a session with invalid options or an unknown option', async () => {
    for (const options of [null, 5, 'mine', { name: 'mine' }]) {
      const opening = new Agent({ model }).session(options as object);

      expect(await rejectionOf(opening)).toMatchObject({ code: 'ERR_OPTION_INVALID' });
    }
  });
});

describe('the arguments of the other methods of an agent are checked', () => {
  test.each([[undefined], [null], [5], [{}]])('`asTool` refuses the options %j', (options) => {
    const asTool = () => new Agent({ model }).asTool(options as never);

    expect(asTool).toThrow(expect.objectContaining({ code: 'ERR_TOOL_INVALID', tool: 'agent' }));
  });

  test.each([[undefined], [null], ['log'], [{}]])('`on` refuses the listener %j', (listener) => {
    const agent = new Agent({ model });

    const listen = () => agent.on('run-start', listener as never);

    expect(listen).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'listener' }));
  });

  test.each(['run-started', 'text-deltas', 'run-delta', 'Decision', '', undefined])(
    '`on` refuses the unknown event type %j',
    (type) => {
      const listen = () => new Agent({ model }).on(type as never, () => {});

      expect(listen).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'type' }));
    },
  );
});
