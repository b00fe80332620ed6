import { defineExtension, type ExtensionInput, ExtensionInvalidError, ExtensionRegistry } from 'keelson/extension';
import { describe, expect, test } from 'vitest';
import { lab } from '../../support/extension/lab.js';

describe('definition keys in snake_case', () => {
  const callback = () => undefined;

  test('are registered under their camelCase names, also in `tool_config`', () => {
    const registry = new ExtensionRegistry();
    const definition = defineExtension({
      id: 'literal',
      tags: 'note',
      on_input_messages: callback,
      on_plain_text: (text) => text.trim(),
      on_tag: (_tag, content) => content,
      on_llm_output: callback,
      prompt_additions: [{ position: 'system_suffix', content: 'Be short.' }],
      tool_config: { preferred_tools: ['a'], avoidedTools: ['b'], tool_order: ['a', 'b'], lazy: true },
    });
    const { on_plain_text: onPlainText, on_tag: onTag } = definition;

    expect(registry.register(definition)).toEqual({
      ...{ id: 'literal', priority: 50, scope: 'session', tags: 'note' },
      ...{ onInputMessages: callback, onPlainText, onTag, onLlmOutput: callback },
      promptAdditions: [{ position: 'system_suffix', content: 'Be short.' }],
      toolConfig: { preferredTools: ['a'], avoidedTools: ['b'], toolOrder: ['a', 'b'], lazy: true },
    });
  });

  test.each(['id', 'extensionId', 'extension_id'])('the id may be given as `%s`, and only once', (name) => {
    const registry = new ExtensionRegistry();

    expect(registry.register({ [name]: 'one' }).id).toBe('one');
    expect(registry.get('one')).toMatchObject({ id: 'one' });
    expect(() => registry.register({ id: 'a', [name === 'id' ? 'extension_id' : name]: 'a' })).toThrow(
      'are the same member; remove all but one',
    );
    expect(() => registry.register({ [name]: 'not an id' })).toThrow(
      `\`${name}\` must be 1–64 letters, digits and hyphens`,
    );
  });

  test('are read from a class instance, and its callback runs with its `this`', async () => {
    class Literal implements ExtensionInput {
      readonly id = 'literal';
      readonly mark = '!';
      readonly prompt_additions = [{ position: 'system_prefix' as const, content: 'Be short.' }];
      on_plain_text(text: string) {
        return text + this.mark;
      }
    }
    const { agent, model } = lab([new Literal()]);

    expect((await agent.run('go')).text).toBe('Aye.!');
    expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'Be short.' });
  });

  test.each([
    [{ onLlmOutput: callback, on_llm_output: callback }, '`onLlmOutput` and `on_llm_output` are the same member'],
    [{ promptAdditions: [], prompt_additions: [] }, '`promptAdditions` and `prompt_additions` are the same member'],
    [{ toolConfig: {}, tool_config: {} }, '`toolConfig` and `tool_config` are the same member'],
    [
      { tool_config: { toolOrder: [], tool_order: [] } },
      '`toolConfig.toolOrder` and `toolConfig.tool_order` are the same member',
    ],
  ])('are refused together with the same key in camelCase: %j', (members, problem) => {
    const register = () => new ExtensionRegistry().register({ id: 'x', ...members });

    expect(register).toThrow(ExtensionInvalidError);
    expect(register).toThrow(problem);
  });
});
