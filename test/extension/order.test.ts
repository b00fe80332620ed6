import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type ExtensionInput, ExtensionRegistry } from 'keelson/extension';
import { describe, expect, test } from 'vitest';
import { lab } from '../support/extension/lab.js';

const TYPES = ['onInputMessages', 'onLlmOutput', 'onTag', 'onPlainText'] as const;

/** Creates an extension that logs each call of its callbacks. */
function logging(log: string[], id: string, priority?: number): ExtensionInput {
  const on = (type: string) => () => void log.push(`${type} ${id}`);
  return {
    ...{ id, priority, tags: 't' },
    onInputMessages: on('onInputMessages'),
    onLlmOutput: on('onLlmOutput'),
    onTag: on('onTag'),
    onPlainText: on('onPlainText'),
  };
}

describe('the callback order', () => {
  test('S1-9.0, S1-9.1.2, S1-9.2.1: is by priority, higher first, for each callback type', async () => {
    const log: string[] = [];
    const extensions = [logging(log, 'low', 10), logging(log, 'mid'), logging(log, 'high', 90)];
    const { agent, registry } = lab(extensions, { script: () => 'x<t/>' });
    await agent.run('go');

    expect(log).toEqual(TYPES.flatMap((type) => ['high', 'mid', 'low'].map((id) => `${type} ${id}`)));
    expect(registry.list().map(({ id }) => id)).toEqual(['low', 'mid', 'high']);
    expect((registry.status() as { id: string }[]).map(({ id }) => id)).toEqual(['high', 'mid', 'low']);
  });

  test('S1-9.1.3: is by priority, then by registration, for any extensions', async () => {
    const priorities = fc.array(fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(priorities, async (list) => {
        const log: string[] = [];
        const { agent } = lab(
          list.map((priority, index) => logging(log, String(index), priority)),
          { script: () => 'x<t/>' },
        );
        await agent.run('go');
        const order = list.map((priority = 50, index) => ({ priority, index })).sort((a, b) => b.priority - a.priority);
        expect(log).toEqual(TYPES.flatMap((type) => order.map(({ index }) => `${type} ${index}`)));
      }),
    );
  });

  test('S1-9.1.3, H3: is the same rule for a thousand random registrations', () => {
    const registry = new ExtensionRegistry();
    const list = Array.from({ length: 1000 }, (_, index) => ({ id: String(index), priority: (index * 7919) % 101 }));
    for (const extension of list) registry.register(extension);
    const sorted = [...list].sort((a, b) => b.priority - a.priority || Number(a.id) - Number(b.id));

    expect((registry.status() as { id: string }[]).map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
  });

  test('S1-9.2.2: is described in the guide and in the doc comments', () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    const rule = /by `?priority`?, higher first, then in the order of\s+(?:\*\s+)?registration/;

    expect(read('docs/extensions.md')).toMatch(rule);
    expect(read('src/extension/definition.ts')).toMatch(rule);
    expect(read('src/extension/registry.ts')).toMatch(rule);
  });
});
