import type { AgentLifecycle } from 'keelson';
import { type ExtensionInput, ExtensionRegistry } from 'keelson/extension';
import { assertLifecycle } from 'keelson/testing';
import { expect, test } from 'vitest';
import { recordingLogger } from '../support/extension/lab.js';

/** Returns the lifecycle that a registry with these extensions adds to an agent. */
function lifecycleOf(...extensions: readonly ExtensionInput[]): AgentLifecycle {
  const registry = new ExtensionRegistry({ logger: recordingLogger() });
  for (const extension of extensions) registry.register(extension);
  let used: AgentLifecycle = {};
  registry.load({
    ...{ agent: 'a', signal: new AbortController().signal, logger: recordingLogger() },
    tools: () => [],
    toolPrefixes: () => [],
    generate: () => Promise.reject(),
    closeAgent: () => Promise.reject(),
    use(lifecycle) {
      used = lifecycle as AgentLifecycle;
      return () => {};
    },
  });
  return used;
}

const store = async (
  _value: unknown,
  { getState, setState }: Parameters<NonNullable<ExtensionInput['onPlainText']>>[1],
) => {
  await setState('count', ((await getState<number>('count')) ?? 0) + 1);
};

test('extensions that change nothing meet the lifecycle contract as passive', async () => {
  const passive: ExtensionInput = {
    id: 'p',
    tags: '*',
    onInputMessages: store,
    onLlmOutput: store,
    onPlainText: store,
    onTag: () => {},
  };

  expect(await assertLifecycle(() => lifecycleOf(passive), { passive: true })).toContain('concurrency');
});

test('extensions that change every value, or fail, meet the lifecycle contract', async () => {
  const active: ExtensionInput = {
    id: 'a',
    onInputMessages: (messages) => [...messages, { role: 'user', content: 'more' }],
    onLlmOutput: (output) => `${output}!`,
    onPlainText: (text) => text.toUpperCase(),
    promptAdditions: [{ position: 'system_prefix', content: 'x', condition: async () => true }],
    toolConfig: { preferredTools: ['some'], lazy: true },
  };
  const failing: ExtensionInput = {
    id: 'f',
    onInputMessages: () => Promise.reject(new Error('boom')),
    onLlmOutput: () => Promise.reject(new Error('boom')),
  };

  expect(await assertLifecycle(() => lifecycleOf(active, failing))).toContain('abort');
});
