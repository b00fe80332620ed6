import {
  type AgentTool,
  definePlugin,
  definePluginConfig,
  type Plugin,
  type PluginConfig,
  type PluginContext,
  type PluginEntry,
  type PluginFactory,
  type PluginHooks,
  type ToolExecutionResult,
} from 'keelson/plugins';
import { describe, expect, expectTypeOf, test } from 'vitest';

describe('S3-7.1: the types accept', () => {
  test('a plugin, its hooks and its tools as objects without annotations', () => {
    const tool = {
      name: 'kubectl_get',
      description: 'Lists.',
      inputSchema: { type: 'object', properties: { resource: { type: 'string' } }, required: ['resource'] },
      async execute(input: Record<string, unknown>) {
        return { content: String(input.resource), isError: false };
      },
    } satisfies AgentTool;
    const hooks = {
      onInit: (context: PluginContext) => void context.toolRegistry.list().join(', '),
      onShutdown: async () => {},
      beforeMessage: async (message: string) => message,
      afterResponse: ({ content, stopReason }) => void [content, stopReason],
      beforeToolExecute: (name, input) => (name === 'rm' ? null : { name, input }),
      afterToolExecute: async (_name, _input, result) => result,
    } satisfies PluginHooks;
    const plugin = { name: 'a', version: '1.0.0', description: 'A.', tools: [tool], hooks } satisfies Plugin;

    expectTypeOf(plugin).toExtend<Plugin>();
    expectTypeOf<{ content: string }>().toExtend<ToolExecutionResult>();
    expectTypeOf<{ content: string; isError: boolean }>().toExtend<ToolExecutionResult>();
    expectTypeOf<{ isError: boolean }>().not.toExtend<ToolExecutionResult>();
    expectTypeOf<ReturnType<PluginContext['toolRegistry']['list']>>().toEqualTypeOf<string[]>();
  });

  test('a synchronous and an asynchronous factory', () => {
    expectTypeOf((options?: Record<string, unknown>) => ({ name: String(options?.a) })).toExtend<PluginFactory>();
    expectTypeOf(async () => ({ name: 'a' })).toExtend<PluginFactory>();
    expectTypeOf(() => ({ nam: 'a' })).not.toExtend<PluginFactory>();
  });

  test('S3-1.4: a configuration, and refuse its misspelt keys', () => {
    const config = {
      plugins: [
        { path: './plugins/audit-logger.ts' },
        { path: './plugins/kubectl-tool.ts', options: { namespace: 'prod' } },
        { path: './plugins/experimental.ts', enabled: false },
      ],
    } satisfies PluginConfig;
    expectTypeOf(config.plugins).toExtend<readonly PluginEntry[]>();
    // @ts-expect-error: a misspelt key
    const misspelt = { plugins: [{ path: './a.ts', enable: false }] } satisfies PluginConfig;

    expect(definePluginConfig(config)).toBe(config);
    expect(misspelt.plugins).toHaveLength(1);
  });
});

test('definePlugin returns its argument', () => {
  const plugin = { name: 'a' };
  const factory = () => plugin;

  expect(definePlugin(plugin)).toBe(plugin);
  expect(definePlugin(factory)).toBe(factory);
  expectTypeOf(definePlugin(factory)).toEqualTypeOf(factory);
});

test('definePlugin refuses unknown members', () => {
  // @ts-expect-error: a hook outside of `hooks`
  const beside = definePlugin({ name: 'a', beforeMessage: (message: string) => message });
  // @ts-expect-error: a misspelt hook
  const misspelt = definePlugin({ name: 'a', hooks: { beforeMesage: (message: string) => message } });

  expect([beside.name, misspelt.name]).toEqual(['a', 'a']);
});
