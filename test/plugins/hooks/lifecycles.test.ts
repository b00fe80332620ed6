import { defineTool } from 'keelson';
import { approval } from 'keelson/lifecycles';
import type { AgentTool, Plugin, PluginHooks } from 'keelson/plugins';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { advancing } from '../../support/agent/advancing.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause, unhandledDuring } from '../../support/agent/settle.js';
import { agentWith, lastResult, moduleOf } from '../../support/plugins/plugin-folder.js';

const never = new Promise<never>(() => {});
const work = toolOf('work', (input) => `worked ${JSON.stringify(input)}`);

const filesOf = (...plugins: readonly Plugin[]) =>
  Object.fromEntries(plugins.map((plugin) => [`plugins/${plugin.name}.mjs`, moduleOf(plugin)]));

const withHooks = (hooks: PluginHooks, name = 'watcher') => filesOf({ name, hooks });

// covers: S3-1.1, S3-2.5, S3-7.9
test('S3-2.7: a tool of a plugin is offered unchanged, its input is validated, and it is called', async () => {
  const got: unknown[] = [];
  const lookUp: AgentTool = {
    name: 'look_up',
    description: 'Looks a ship up.',
    inputSchema: { type: 'object', properties: { ship: { type: 'string' } }, required: ['ship'] },
    async execute(input) {
      got.push(input);
      return { content: `${input.ship} is at sea` };
    },
  };
  const script = [calls('look_up', {}), calls('look_up', { ship: 'Anna' }), says('end')];
  const { agent, model } = agentWith(filesOf({ name: 'ships', tools: [lookUp] }), { script, tools: [work] });
  await agent.run('go');

  expect(model.requests[0]?.tools).toMatchObject(
    [{ name: 'work' }, { ...lookUp, execute: undefined }].map(({ name }) => ({ name })),
  );
  expect(model.requests[0]?.tools[1]?.inputSchema).toEqual(lookUp.inputSchema);
  expect(lastResult({ ...model, requests: model.requests.slice(0, 2) })[0]).toMatchObject({ isError: true });
  expect(got).toEqual([{ ship: 'Anna' }]);
  expect(lastResult(model)).toEqual([{ content: 'Anna is at sea', isError: false }]);
});

test('S3-2.8: a result with `isError` is an error for the model and for hooks, and without it a success', async () => {
  const seen: unknown[] = [];
  const tool = (name: string, isError?: boolean): AgentTool => ({
    name,
    description: name,
    inputSchema: {},
    execute: () => ({ content: name, ...(isError !== undefined && { isError }) }),
  });
  const hooks: PluginHooks = {
    afterToolExecute(_name, _input, result) {
      seen.push(result.isError ?? false);
      return result;
    },
  };
  const files = filesOf({ name: 'p', tools: [tool('good'), tool('fine', false), tool('bad', true)], hooks });
  const script = [calls({ name: 'good' }, { name: 'fine' }, { name: 'bad' }), says('end')];
  const { agent, model } = agentWith(files, { script });
  await agent.run('go');

  expect(lastResult(model).map(({ isError }) => isError)).toEqual([false, false, true]);
  expect(seen).toEqual([false, false, true]);
});

// covers: S3-1.2, S3-2.6
test('S3-3.1: messages, tool calls and tool results pass the plugins in the order of the configuration', async () => {
  const marking = (mark: string): PluginHooks => ({
    beforeMessage: (message) => `${message}${mark}`,
    beforeToolExecute: (name, input) => ({ name, input: { ...input, marks: `${input.marks ?? ''}${mark}` } }),
    afterToolExecute: (_name, _input, { content }) => ({ content: `${content}${mark}` }),
  });
  const slow = async () => {
    await pause(30);
    return { name: 'a', hooks: marking('a') };
  };
  const files = {
    'a.mjs': moduleOf(slow),
    ...filesOf({ name: 'b', hooks: marking('b') }, { name: 'c', hooks: marking('c') }),
  };
  const { agent, model } = agentWith(files, { tools: [work] });
  await agent.run('>');

  expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: '>abc' }]);
  expect(lastResult(model)).toEqual([{ content: 'worked {"n":1,"marks":"abc"}abc', isError: false }]);
});

// covers: S3-3.2, S3-4.1
test('onInit runs once, after every plugin is loaded, with the configuration and the names of all tools', async () => {
  const seen: unknown[] = [];
  const order: string[] = [];
  const first: Plugin = {
    name: 'first',
    hooks: {
      async onInit({ config, toolRegistry }) {
        (config.plugins as unknown[]).length = 0;
        Object.assign(toolRegistry.get('work') ?? {}, { description: 'changed', execute: () => 'changed' });
        await pause(5);
        seen.push(toolRegistry.list());
        order.push('first');
      },
    },
  };
  const later: Plugin = {
    name: 'later',
    tools: [{ name: 'late_tool', description: '', inputSchema: {}, execute: () => ({ content: '' }) }],
    hooks: {
      onInit({ config, toolRegistry }) {
        seen.push(config, toolRegistry.get('late_tool')?.name);
        order.push('later');
      },
    },
  };
  const { agent, model } = agentWith(filesOf(first, later), { script: [says('a'), says('b')], tools: [work] });
  await agent.run('one');
  await agent.run('two');

  expect(seen).toEqual([
    ['work', 'late_tool'],
    { plugins: [{ path: './plugins/first.mjs' }, { path: './plugins/later.mjs' }] },
    'late_tool',
  ]);
  expect(order).toEqual(['first', 'later']);
  expect(model.requests[0]?.tools[0]?.description).toBe('Does work.');
});

test('S3-7.8: a run waits until the plugins are loaded', async () => {
  const slow = async () => {
    await pause(20);
    return { name: 'slow', hooks: { beforeMessage: (message: string) => `${message}, please` } };
  };
  const { agent, model } = agentWith({ 'slow.mjs': moduleOf(slow) }, { script: [says('end')] });
  await agent.run('go');

  expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'go, please' }]);
});

// covers: S3-3.3, S3-4.2
test('each onShutdown runs once, in reverse order, even if another one fails', async () => {
  const order: string[] = [];
  const hooksOf = (name: string, after?: () => Promise<void>): Plugin => ({
    name,
    hooks: {
      async onShutdown() {
        await pause(1);
        order.push(name);
        await after?.();
      },
    },
  });
  const fails = () => Promise.reject(new Error('no'));
  const { agent, log } = agentWith(filesOf(hooksOf('a'), hooksOf('b', fails), hooksOf('c')), { script: [says('end')] });
  await agent.run('go');
  await agent.close();
  await agent.close();

  expect(order).toEqual(['c', 'b', 'a']);
  expect(log.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
    expect.stringContaining('"b"'),
  ]);
});

test('S3-4.2, G17: an onShutdown that hangs is abandoned after five seconds', async () => {
  const order: string[] = [];
  const clock = fakeClock();
  const { agent } = agentWith(
    filesOf(
      { name: 'a', hooks: { onShutdown: () => void order.push('a') } },
      { name: 'hangs', hooks: { onShutdown: () => new Promise(() => {}) } },
    ),
    { script: [says('end')], clock },
  );
  await agent.ready();
  const start = clock.now();
  await advancing(clock, agent.close(), 100);

  expect(order).toEqual(['a']);
  expect(clock.now() - start).toBeGreaterThanOrEqual(5_000);
  expect(clock.now() - start).toBeLessThan(7_000);
});

// covers: S3-3.4, S3-4.3
test.each([
  ['synchronously', (message: string) => `${message}!`],
  ['with a promise', async (message: string) => `${message}!`],
])('beforeMessage changes the message for the model %s', async (_title, beforeMessage) => {
  const { agent, model } = agentWith(withHooks({ beforeMessage }), { script: [says('end')] });
  await agent.run('go');

  expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'go!' }]);
});

// covers: S3-3.5, S3-4.4, S3-7.7
describe('afterResponse', () => {
  test('G18: receives the answer and its stop reason before the run resolves, and cannot change them', async () => {
    const seen: unknown[] = [];
    const hooks: PluginHooks = {
      async afterResponse(response) {
        await pause(5);
        seen.push({ ...response });
        response.content = 'changed';
      },
    };
    const script = [calls('work'), says('end', { finishReason: 'length' })];
    const { agent } = agentWith(withHooks(hooks), { script, tools: [work] });
    const { text } = await agent.run('go');

    expect(seen).toEqual([{ content: 'end', stopReason: 'length' }]);
    expect(text).toBe('end');
  });

  test('is not called for a run that waits for a person', async () => {
    const seen: unknown[] = [];
    const hooks: PluginHooks = { afterResponse: (response) => void seen.push(response) };
    const lifecycle = [approval({ tools: ['work'] })];
    const { agent } = agentWith(withHooks(hooks), { script: [calls('work')], tools: [work], lifecycle });

    expect([(await agent.run('go')).status, seen]).toEqual(['suspended', []]);
  });

  test('that rejects is logged and causes no unhandled rejection', async () => {
    const hooks: PluginHooks = { afterResponse: () => Promise.reject(new Error('no disk')) };
    const { agent, log } = agentWith(withHooks(hooks), { script: [says('end')] });
    const unhandled = await unhandledDuring(() => agent.run('go'));

    expect(unhandled).toEqual([]);
    expect(log).toEqual([expect.objectContaining({ level: 'error', message: expect.stringContaining('"watcher"') })]);
  });
});

describe('S3-3.6, S3-4.5: beforeToolExecute', () => {
  test('changes the input', async () => {
    const hooks: PluginHooks = { beforeToolExecute: (name, input) => ({ name, input: { ...input, n: 2 } }) };
    const { agent, model } = agentWith(withHooks(hooks), { tools: [work] });
    await agent.run('go');

    expect(lastResult(model)).toEqual([{ content: 'worked {"n":2}', isError: false }]);
  });

  test('S3-D2: blocks the call with null: the tool and later plugins do not run, and the model reads the name of the plugin', async () => {
    let asked = 0;
    let ran = 0;
    const counted = toolOf('work', () => {
      ran += 1;
      return 'ran';
    });
    const files = filesOf(
      { name: 'guard', hooks: { beforeToolExecute: async () => null } },
      {
        name: 'second',
        hooks: {
          beforeToolExecute(name, input) {
            asked += 1;
            return { name, input };
          },
        },
      },
    );
    const { agent, model } = agentWith(files, { tools: [counted] });
    const { text, decisions } = await agent.run('go');

    expect(lastResult(model)).toEqual([{ content: 'Tool "work" was blocked by plugin "guard".', isError: true }]);
    expect([asked, ran, text]).toEqual([0, 0, 'end']);
    expect(decisions).toMatchObject([{ type: 'block', by: 'guard' }]);
  });

  test('G13: redirects to another tool, with the schema and the permission of that tool', async () => {
    const hooks: PluginHooks = { beforeToolExecute: (_name, input) => ({ name: 'erase', input }) };
    const judged: string[] = [];
    const erase = defineTool({
      name: 'erase',
      description: 'Erases.',
      input: z.object({ path: z.string() }),
      execute: () => 'erased',
    });
    const permission = {
      priority: 20,
      wrapToolCall: (call: { name: string; tool?: { name: string } | undefined }, next: () => never) => {
        judged.push(`${call.name} ${call.tool?.name}`);
        return next();
      },
    };
    const { agent, model } = agentWith(withHooks(hooks), { tools: [work, erase], lifecycle: [permission as never] });
    await agent.run('go');

    expect(judged).toEqual(['erase erase']);
    expect(lastResult(model)).toEqual([{ content: expect.stringContaining('arguments of "erase"'), isError: true }]);
  });

  test('is called for arguments that are invalid JSON', async () => {
    const { agent, model } = agentWith(withHooks({ beforeToolExecute: () => null }), {
      script: [calls({ name: 'work', input: undefined, invalidInput: '{"n":' }), says('end')],
      tools: [work],
    });
    await agent.run('go');

    expect(lastResult(model)[0]?.content).toBe('Tool "work" was blocked by plugin "watcher".');
  });
});

// covers: S3-3.7, S3-4.6
describe('afterToolExecute', () => {
  const secret = toolOf('work', () => ({ user: 'anna', password: 'hunter2' }));

  test.each([
    ['synchronously', (content: string) => ({ content })],
    ['with a promise', async (content: string) => ({ content })],
  ])('changes the whole result for the model, including its data, %s', async (_title, give) => {
    const hooks: PluginHooks = {
      afterToolExecute: (_name, _input, { content }) => give(content.replace('hunter2', '***')),
    };
    const { agent, model } = agentWith(withHooks(hooks), { tools: [secret] });
    const { messages } = await agent.run('go');

    expect(lastResult(model)).toEqual([{ content: '{"user":"anna","password":"***"}', isError: false }]);
    expect(JSON.stringify(model.requests) + JSON.stringify(messages)).not.toContain('hunter2');
  });

  test('that returns its argument changes nothing and logs nothing', async () => {
    const hooks: PluginHooks = {
      beforeToolExecute: (name, input) => ({ name, input }),
      afterToolExecute: (_name, _input, result) => result,
    };
    const { agent, model } = agentWith(withHooks(hooks), { tools: [secret] });
    const plain = agentWith({}, { tools: [secret] });
    const { messages, decisions } = await agent.run('go');

    expect(messages).toEqual((await plain.agent.run('go')).messages);
    expect(model.requests[1]?.messages).toEqual(plain.model.requests[1]?.messages);
    expect(decisions).toEqual([]);
  });

  test.each([
    [
      'throws the secret',
      (content: string) => {
        throw new Error(content);
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['hangs', () => never],
    ['returns undefined', () => undefined],
    ['returns a string', (content: string) => content],
    ['returns a number as content', () => ({ content: 42 })],
  ])('that %s hides the original result from the model', async (_title, fault) => {
    const files = filesOf(
      { name: 'redactor', hooks: { afterToolExecute: (_n, _i, { content }) => fault(content) as never } },
      { name: 'audit', hooks: { afterToolExecute: (_n, _i, { content }) => ({ content: `${content} (seen)` }) } },
    );
    const { agent, model, log } = agentWith(files, { tools: [secret], options: { timeoutMs: 400 } });
    const { text } = await agent.run('go');

    expect(text).toBe('end');
    const said = 'Plugin "redactor" failed after tool "work", so the result is withheld.';
    expect(lastResult(model)).toEqual([{ content: expect.stringContaining(said), isError: true }]);
    expect(JSON.stringify(model.requests)).not.toContain('hunter2');
    expect(log.some(({ level, message }) => level === 'error' && message.includes('"redactor"'))).toBe(true);
  });

  test('keeps images in the result', async () => {
    const image = { type: 'image', image: 'aGk=', mediaType: 'image/png' } as const;
    const shown = toolOf('work', () => [{ type: 'text', text: 'a chart' }, image]);
    const hooks: PluginHooks = { afterToolExecute: (_n, _i, { content }) => ({ content: `${content}!` }) };
    const { agent, model } = agentWith(withHooks(hooks), { tools: [shown] });
    await agent.run('go');

    expect(lastResult(model)[0]?.content).toEqual([{ type: 'text', text: 'a chart!' }, image]);
  });
});

describe('G14: a plugin that fails before a call', () => {
  test.each([
    [
      'throws',
      (): unknown => {
        throw new Error('no port open');
      },
      ': no port open',
    ],
    ['hangs', (): unknown => never, ': The beforeToolExecute of plugin "bad" took longer than 400 ms.'],
    ['returns undefined', (): unknown => undefined, ': .+; got undefined'],
    ['returns no input', (): unknown => ({ name: 'work' }), ': .+; got an object'],
    ['returns an array as input', (): unknown => ({ name: 'work', input: [] }), ': .+; got an object'],
  ])('and %s blocks the call, and the run continues', async (_title, fault, reason) => {
    const hooks: PluginHooks = { beforeToolExecute: fault as never };
    const { agent, model } = agentWith(filesOf({ name: 'bad', hooks }), { tools: [work], options: { timeoutMs: 400 } });
    const { text } = await agent.run('go');

    expect(text).toBe('end');
    expect(lastResult(model)).toEqual([
      {
        content: expect.stringMatching(new RegExp(`Tool "work" was blocked by plugin "bad"${reason}`)),
        isError: true,
      },
    ]);
  });
});

test('an abort stops waiting for a hook and leaves no timer', async () => {
  const controller = new AbortController();
  const hooks: PluginHooks = {
    beforeToolExecute() {
      controller.abort();
      return new Promise(() => {});
    },
  };
  const { agent } = agentWith(withHooks(hooks), { tools: [work] });

  await expect(agent.run('go', { signal: controller.signal })).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
  await pause(5);
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBeLessThan(3);
});

test('S3-D1: an agent without plugins or with an empty configuration runs normally', async () => {
  const { agent, model } = agentWith({}, { tools: [work] });
  await agent.run('go');

  expect(lastResult(model)).toEqual([{ content: 'worked {"n":1}', isError: false }]);
  expect(agent.status().lifecycles).toEqual([]);
});
