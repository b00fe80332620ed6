import { type AgentTool, createHookManager, createToolRegistry, type PluginHooks } from 'keelson/plugins';
import { describe, expect, test } from 'vitest';

function tool(
  name: string,
  execute: AgentTool['execute'] = (input) => ({ content: JSON.stringify(input) }),
): AgentTool {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  return { name, description: `Does ${name}.`, inputSchema, execute };
}

function registryWith(hooks: PluginHooks, ...tools: readonly AgentTool[]) {
  const manager = createHookManager({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
  manager.register({ name: 'watcher', hooks });
  const registry = createToolRegistry(manager);
  for (const each of tools) registry.register(each);
  return registry;
}

describe('S3-D1: a registry without hooks', () => {
  test('lists, shows and runs its tools', async () => {
    const registry = createToolRegistry();
    registry.register(tool('add'));
    registry.register(tool('take'));

    expect(registry.list()).toEqual(['add', 'take']);
    expect(registry.get('add')).toMatchObject({ name: 'add', description: 'Does add.' });
    expect(registry.get('none')).toBeUndefined();
    expect(await registry.execute('add', { n: 1 })).toEqual({ content: '{"n":1}' });
  });

  test.each([
    ['none', {}, 'There is no tool "none". Tools: add, fail.'],
    ['add', {}, 'The arguments of "add" are not valid'],
    ['fail', { n: 1 }, 'no such ship'],
  ])('returns an error result for %s with %j: %s', async (name, input, message) => {
    const registry = createToolRegistry();
    registry.register(tool('add'));
    registry.register(tool('fail', () => Promise.reject(new Error('no such ship'))));

    expect(await registry.execute(name, input)).toEqual({ content: expect.stringContaining(message), isError: true });
  });

  test('refuses a taken name and a tool without a schema', () => {
    const registry = createToolRegistry();
    registry.register(tool('add'));

    expect(() => registry.register(tool('add'))).toThrow(expect.objectContaining({ code: 'ERR_PLUGIN_CONFLICT' }));
    expect(() => registry.register({ name: 'x' } as AgentTool)).toThrow(
      expect.objectContaining({ code: 'ERR_TOOL_INVALID' }),
    );
  });
});

test('S3-7.6: both hooks run around an execution; the second gets the final name and input', async () => {
  const seen: unknown[] = [];
  const registry = registryWith(
    {
      beforeToolExecute: (name, input) => {
        seen.push(['before', name, input]);
        return { name: 'take', input: { n: 7 } };
      },
      afterToolExecute: (name, input, result) => {
        seen.push(['after', name, input, result]);
        return { content: `[${result.content}]` };
      },
    },
    tool('add'),
    tool('take', ({ n }) => ({ content: `took ${n}` })),
  );

  expect(await registry.execute('add', { n: 1 })).toEqual({ content: '[took 7]' });
  expect(seen).toEqual([
    ['before', 'add', { n: 1 }],
    ['after', 'take', { n: 7 }, { content: 'took 7' }],
  ]);
});

test('a plugin with only `afterToolExecute` blocks no call and sees a failed result', async () => {
  const registry = registryWith(
    { afterToolExecute: (_name, _input, result) => ({ ...result, content: `${result.content}, seen` }) },
    tool('add', () => ({ content: 'no ship', isError: true })),
  );

  expect(await registry.execute('add', { n: 1 })).toEqual({ content: 'no ship, seen', isError: true });
});

test('S3-D2: a blocked call returns an error result with the names of tool and plugin, and the tool does not run', async () => {
  let ran = false;
  const registry = registryWith(
    { beforeToolExecute: () => null },
    tool('add', () => {
      ran = true;
      return { content: '' };
    }),
  );

  expect(await registry.execute('add', { n: 1 })).toEqual({
    content: 'Tool "add" was blocked by plugin "watcher".',
    isError: true,
  });
  expect(ran).toBe(false);
});

test.each([[null], [undefined], [5], [{}], [{ name: 't', description: '', inputSchema: {} }]])(
  'register refuses the invalid tool %j',
  (tool) => {
    expect(() => createToolRegistry().register(tool as never)).toThrow(
      expect.objectContaining({ code: 'ERR_TOOL_INVALID' }),
    );
  },
);
