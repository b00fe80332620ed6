import { Agent } from 'keelson';
import { defineExtension, ExtensionInvalidError, ExtensionRegistry, extensions } from 'keelson/extension';
import { says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';

const loud = defineExtension({ id: 'loud', onPlainText: (text) => text.toUpperCase() });
const marked = defineExtension({ id: 'marked', onPlainText: (text) => `${text}!` });

test('`extensions` returns a registry with the definitions registered in their order', async () => {
  const registry = extensions([loud, marked]);
  const agent = new Agent({ model: scriptedModel([says('hi')]), loaders: [registry] });

  expect(registry).toBeInstanceOf(ExtensionRegistry);
  expect(registry.list().map(({ id }) => id)).toEqual(['loud', 'marked']);
  expect((await agent.run('Hello')).text).toBe('HI!');
});

test('`extensions` passes its options to the registry', () => {
  const named = { id: 'guide', toolConfig: { preferredTools: ['look'] } };

  expect(extensions([named], { tools: ['look'] }).list()).toHaveLength(1);
  expect(() => extensions([named], { tools: ['lok'] })).toThrow(ExtensionInvalidError);
});

test('`extensions` refuses two definitions with the same id', () => {
  expect(() => extensions([loud, loud])).toThrow(ExtensionInvalidError);
});
