import { Agent } from 'keelson';
import {
  defineExtension,
  type ExtensionInput,
  ExtensionInvalidError,
  ExtensionRegistry,
  extensions,
  MemoryStateStore,
  type RegisteredExtension,
  type TagHandler,
} from 'keelson/extension';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../support/agent/sample-tools.js';
import { gate } from '../support/agent/settle.js';
import { lab, recordingLogger } from '../support/extension/lab.js';

function problemsOf(extension: unknown, registry = new ExtensionRegistry({ tools: ['known'] })): readonly string[] {
  try {
    registry.register(extension as ExtensionInput);
  } catch (error) {
    expect(error).toBeInstanceOf(ExtensionInvalidError);
    expect(registry.list()).toEqual([]);
    return (error as ExtensionInvalidError).problems;
  }
  return [];
}

const patterns = 'a tag name, a prefix followed by `*`, or a non-empty array of these';

describe('register', () => {
  test('S1-1.0: registers extensions with different members, and all act in one run', async () => {
    const seen: string[] = [];
    const { registry, agent, model } = lab(
      [
        {
          id: 'calls',
          onInputMessages: (messages) => void seen.push(`${messages.length} in`),
          onPlainText: (t) => `${t}!`,
        },
        {
          id: 'prompts',
          promptAdditions: [{ position: 'system_prefix', content: 'Be short.' }],
          toolConfig: { preferredTools: ['echo'] },
        },
      ],
      { agent: { tools: [echo] }, registry: { tools: [echo] } },
    );
    const { text } = await agent.run('go');

    expect(
      registry.list().map(({ id, promptAdditions, toolConfig }) => [id, promptAdditions.length, toolConfig]),
    ).toEqual([
      ['calls', 0, undefined],
      ['prompts', 1, { preferredTools: ['echo'] }],
    ]);
    expect({ text, seen }).toEqual({ text: 'Aye.!', seen: ['1 in'] });
    expect(model.requests[0]?.messages[0]).toEqual({
      role: 'system',
      content: 'Be short.\n\nGuidance on tools:\n- Preferred where they serve: echo',
    });
  });

  test('S1-1.1.1: refuses a registered id, and the first extension is unchanged', () => {
    const registry = new ExtensionRegistry();
    const first = registry.register({ id: 'a', priority: 7 });

    expect(() => registry.register({ id: 'a', priority: 8 }, { session: 's' })).toThrow(ExtensionInvalidError);
    expect(registry.list()).toEqual([first]);
    expect(registry.get('a')?.priority).toBe(7);
  });

  test('S1-1.1.2, S1-8.1.2, S1-8.1.3: returns a copy that later changes to the original do not affect', () => {
    const onInputMessages = () => {};
    const onTag = () => 'x';
    const tags = ['a', 'b-*'];
    const additions = [{ position: 'user_suffix' as const, content: 'now' }];
    const toolConfig = { preferred_tools: ['p'], avoided_tools: ['a'], tool_order: ['x', 'y'], lazy: true };
    const registry = new ExtensionRegistry();
    registry.register({ id: 'a', onInputMessages, onTag, tags, promptAdditions: additions, toolConfig });
    tags.push('c');
    additions.push({ position: 'user_suffix', content: 'later' });
    toolConfig.tool_order.push('z');

    expect(registry.get('a')).toEqual({
      ...{ id: 'a', priority: 50, scope: 'session', onInputMessages, onTag, tags: ['a', 'b-*'] },
      promptAdditions: [{ position: 'user_suffix', content: 'now' }],
      toolConfig: { preferredTools: ['p'], avoidedTools: ['a'], toolOrder: ['x', 'y'], lazy: true },
    });
  });

  test('S1-1.1.2: returns a frozen extension', async () => {
    const condition = { type: 'context_match', path: 'a', equals: { b: [1] } } as const;
    const { registry, agent, model } = lab([
      {
        ...{ id: 'a', tags: ['t'], onTag: () => '' },
        promptAdditions: [{ position: 'system_prefix', content: 'A', condition }],
      },
      { id: 'b', onTag: [{ tags: ['t'], handle: () => '' }] },
    ]);
    const [a, b] = registry.list() as [RegisteredExtension, RegisteredExtension];
    const held = a.promptAdditions[0]?.condition as unknown as { equals: { b: number[] } };
    const lists = [a.promptAdditions, held.equals.b, a.tags, b.onTag, (b.onTag as TagHandler[])[0]?.tags];

    for (const list of lists) expect(() => (list as unknown[]).push('more')).toThrow(TypeError);
    await agent.run('go', { context: { a: { b: [1] } } });
    expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'A' });
  });

  test.each([[null], ['a'], [{ sesion: 'a' }], [{ session: '' }], [{ session: 5 }]])(
    'refuses the options %j, instead of acting in every session',
    (options) => {
      const registry = new ExtensionRegistry();

      expect(() => registry.register({ id: 'a' }, options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_OPTION_INVALID' }),
      );
      expect(registry.list()).toEqual([]);
    },
  );

  test('S1-1.1.3: without a session, an extension acts in every session, and each session has its own state', async () => {
    const log: string[] = [];
    const registry = new ExtensionRegistry();
    const registered = registry.register({
      id: 'x',
      async onLlmOutput(_output, { sessionId, getState, setState }) {
        log.push(`${sessionId}: ${await getState('last')}`);
        await setState('last', sessionId);
      },
    });
    const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [registry] });
    for (const id of ['A', 'B', 'A', 'B']) await (await agent.session({ id })).run('go');

    expect(registered.scope).toBe('session');
    expect(registered.session).toBeUndefined();
    expect(log).toEqual(['A: undefined', 'B: undefined', 'A: A', 'B: B']);
  });

  test('S1-10.1.2: a registration before the first run is logged once, by the logger of the first agent', async () => {
    const registry = extensions([{ id: 'x', priority: 60 }]);
    const loggers = [recordingLogger(), recordingLogger()];
    for (const logger of loggers) {
      const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [registry], logger });
      await agent.run('go');
    }
    registry.register({ id: 'later' });
    await registry.unregister('later');

    expect(
      loggers.map(({ records }) => records.filter(({ level }) => level === 'info').map((it) => it.message)),
    ).toEqual([
      ['Extension "x" is registered.', 'Extension "later" is registered.', 'Extension "later" was unregistered.'],
      [],
    ]);
    expect(loggers[0]?.records[0]?.details).toEqual({
      ...{ extensionId: 'x', priority: 60, scope: 'session', session: undefined },
    });
  });

  test('S1-1.1.3: an extension acts only in its session, unless its scope is global', async () => {
    const log: string[] = [];
    const registry = new ExtensionRegistry();
    const extension = (id: string): ExtensionInput => ({
      id,
      promptAdditions: [{ position: 'system_prefix', content: id }],
      async onLlmOutput(_output, context) {
        log.push(`${id} in ${context.sessionId}: ${await context.getState('last')}`);
        await context.setState('last', context.sessionId);
      },
    });
    registry.register(extension('narrow'), { session: 'A' });
    registry.register({ ...extension('wide'), scope: 'global' }, { session: 'A' });
    const model = scriptedModel(() => 'Aye.');
    const agent = new Agent({ model, loaders: [registry] });
    for (const id of ['A', 'B', 'A']) await (await agent.session({ id })).run('go');

    expect(registry.list().map(({ scope, session }) => [scope, session])).toEqual([
      ['session', 'A'],
      ['global', 'A'],
    ]);
    expect(log).toEqual([
      ...['narrow in A: undefined', 'wide in A: undefined', 'wide in B: undefined'],
      ...['narrow in A: A', 'wide in A: A'],
    ]);
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      'narrow\n\nwide',
      'wide',
      'narrow\n\nwide',
    ]);
  });

  test.each(['a'.repeat(64), 'A-1', '0', '-'])('S1-1.2.1: accepts the id %j', (id) => {
    expect(problemsOf({ id })).toEqual([]);
  });

  test.each(['a'.repeat(65), '', 'a b', 'a/b', 'a_b', 'ä', 'a\n', '__proto__', 5, undefined])(
    'S1-1.2.1: refuses the id %j',
    (id) => {
      expect(problemsOf({ id })).toEqual([
        expect.stringContaining('`id` must be 1–64 letters, digits and hyphens, got '),
      ]);
    },
  );

  test.each([
    [{ onInputMessages: 'x' }, '`onInputMessages` must be a function, got "x"'],
    [{ onPlainText: {} }, '`onPlainText` must be a function, got an object'],
    [{ onLlmOutput: 1 }, '`onLlmOutput` must be a function, got 1'],
    [{ onTag: 1 }, '`onTag` must be a function or an array of handlers, got 1'],
    [{ onTag: () => '' }, '`tags` of `onTag` is missing'],
    [{ onTag: () => '', tags: [] }, `\`tags\` must be ${patterns}, got an array`],
    [{ onTag: [{ handle: () => '' }] }, `\`onTag[0].tags\` must be ${patterns}, got undefined`],
    [{ onTag: [{ tags: 'a' }] }, '`onTag[0].handle` must be a function, got undefined'],
    [{ tags: 'a' }, '`tags` must be given together with an `onTag` that is a function'],
    [{ on_input_message: () => {} }, 'unknown member `on_input_message`; did you mean `onInputMessages`?'],
    [{ on_llm_output: 1 }, '`on_llm_output` must be a function, got 1'],
    [{ on_tag: () => '' }, '`tags` of `onTag` is missing'],
    [{ tool_config: { tool_order: [1] } }, '`tool_config.tool_order[0]` must be a non-empty string, got 1'],
    [JSON.parse('{"__proto__":1}'), expect.stringContaining('unknown member `__proto__`; known are id, ')],
    [
      new (class {
        id = 'x';
        onTags() {}
      })(),
      'unknown member `onTags`; did you mean `onTag`?',
    ],
  ])('S1-1.2.2: refuses %j and names the key', (members, problem) => {
    const extension = Object.getPrototypeOf(members) === Object.prototype ? { id: 'x', ...members } : members;
    if (Object.hasOwn(members, '__proto__'))
      Object.defineProperty(extension, '__proto__', { value: 1, enumerable: true });

    expect(problemsOf(extension)).toEqual([problem]);
  });

  test.each(['a b', 'a*b', '<a>', '1', '', '**', 5])('S1-1.2.2: refuses the tag pattern %j', (tags) => {
    expect(problemsOf({ id: 'x', tags, onTag: () => '' })).toHaveLength(1);
  });

  test('S1-1.2.2: accepts all four callbacks, also class methods, which run with their `this`', async () => {
    class Counter implements ExtensionInput {
      readonly id = 'counter';
      readonly tags = 't';
      count = 0;
      onInputMessages() {
        this.count += 1;
      }
      onLlmOutput() {
        this.count += 10;
      }
      onTag() {
        this.count += 100;
      }
      onPlainText() {
        this.count += 1000;
      }
    }
    const counter = new Counter();
    const { agent } = lab([counter], { script: () => 'a<t/>' });
    await agent.run('go');

    expect(counter.count).toBe(1111);
  });

  test('S1-1.2.3: lists every invalid member, and leaves the registry unchanged', async () => {
    const registry = new ExtensionRegistry({ tools: ['known'] });
    const problems = problemsOf(
      {
        id: 'a b',
        priority: 101,
        scope: 'wide',
        onLlmOutput: 1,
        extra: 1,
        promptAdditions: [{ position: 'top', content: '' }],
        toolConfig: { preferredTools: ['known', 'gone'] },
      },
      registry,
    );
    const model = scriptedModel(() => 'Aye.');
    const agent = new Agent({ model, loaders: [registry] });
    await agent.run('go');

    expect(problems).toHaveLength(7);
    expect(() => registry.register({ id: 'a b' })).toThrow(
      expect.objectContaining({ extension: 'a b', message: expect.stringContaining('Extension "a b" is not valid: ') }),
    );
    expect(agent.status().lifecycles).toEqual([]);
    expect(model.requests[0]?.messages).toHaveLength(1);
  });

  test.each([0, 100, 50, undefined])('S1-9.1.1: accepts priority %j', (priority) => {
    const registry = new ExtensionRegistry();
    registry.register({ id: 'a', priority });

    expect(registry.get('a')?.priority).toBe(priority ?? 50);
  });

  test.each([-1, 101, 1.5, Number.NaN, '50', null])('S1-9.1.1: refuses priority %j', (priority) => {
    expect(problemsOf({ id: 'a', priority })).toEqual([
      expect.stringContaining('`priority` must be a whole number from 0 to 100, got '),
    ]);
  });
});

describe('unregister', () => {
  test('S1-1.2.3: a misspelt callback is refused by the compiler and by the registry', () => {
    const misspelt = defineExtension({
      id: 'shouting',
      shout: (text: string) => text.toUpperCase(),
      // @ts-expect-error the callback is `onPlainText`
      onPlaintext: (text: string) => text,
    });

    defineExtension({
      id: 'quiet',
      // @ts-expect-error the callback is `on_plain_text`
      on_plaintext: (text: string) => text,
    });
    expect(() => new ExtensionRegistry().register(misspelt)).toThrow(
      /unknown member `onPlaintext`; did you mean `onPlainText`\?/,
    );
  });

  test('S1-1.3.1: stops all callbacks of the extension, also in a current run', async () => {
    const log: string[] = [];
    const say = (id: string): ExtensionInput => ({ id, onLlmOutput: () => void log.push(id) });
    const { registry, agent } = lab([say('gone'), say('stays')], {
      script: [calls('echo', { text: 'x' }), says('1'), says('2')],
      agent: { tools: [{ ...echo, execute: async () => String(await registry.unregister('gone')) }] },
    });
    await agent.run('go');
    await agent.run('go');

    expect(log).toEqual(['gone', 'stays', 'stays', 'stays']);
    expect(registry.get('gone')).toBeUndefined();
    expect(await registry.unregister('gone')).toBe(false);
  });

  test('S1-1.3.1: ignores the result of a callback that is still running', async () => {
    const { pass, open } = gate();
    const { registry, agent } = lab([{ id: 'slow', onLlmOutput: () => pass().then(() => 'late') }]);
    const run = agent.run('go');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await registry.unregister('slow');
    open();

    expect((await run).text).toBe('Aye.');
  });

  test('S1-1.3.2: removes the extension’s state in every session, and no other state', async () => {
    const state = new MemoryStateStore();
    const writes = (id: string): ExtensionInput => ({ id, onLlmOutput: (_o, context) => context.setState('k', 'v') });
    const { registry, agent } = lab([writes('a'), writes('b')], { registry: { state } });
    for (const id of ['s1', 's2']) await (await agent.session({ id })).run('go');
    await registry.unregister('a');

    expect(await registry.stats('s1')).toEqual({ bytes: 4, extensions: { b: 4 } });
    expect(await registry.stats('s2')).toEqual({ bytes: 4, extensions: { b: 4 } });
  });

  test('S1-1.3.2: removes the value of a write that is unfinished, and refuses a later write', async () => {
    const { pass, open } = gate();
    const late: unknown[] = [];
    const { registry, agent } = lab([
      {
        id: 'a',
        async onLlmOutput(_output, context) {
          await context.setState('k', 1);
          await pass();
          await context.setState('k', 2).catch((error) => late.push(error.code));
        },
      },
    ]);
    const session = await agent.session({ id: 's' });
    const run = session.run('go');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await registry.unregister('a');
    open();
    await run;

    expect(late).toEqual(['ERR_EXTENSION_EXPIRED']);
    expect(await registry.stats('s')).toEqual({ bytes: 0, extensions: {} });
  });

  test('S1-1.3.3, S1-10.1.2: is logged, like `register`', async () => {
    const logger = recordingLogger();
    const registry = new ExtensionRegistry({ logger });
    registry.register({ id: 'a', priority: 7 });
    await registry.unregister('a');

    expect(logger.records).toEqual([
      {
        level: 'info',
        message: 'Extension "a" is registered.',
        details: { extensionId: 'a', priority: 7, scope: 'session', session: undefined },
      },
      { level: 'info', message: 'Extension "a" was unregistered.', details: { extensionId: 'a' } },
    ]);
  });
});
