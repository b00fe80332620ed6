import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Agent, type Message } from 'keelson';
import {
  type ExtensionContext,
  type ExtensionInput,
  ExtensionInvalidError,
  ExtensionRegistry,
} from 'keelson/extension';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { type LabOptions, lab } from '../../support/extension/lab.js';

type Addition = NonNullable<ExtensionInput['promptAdditions']>[number];

/** Returns the messages of the first model request of a run. */
async function requestMessages(
  extensions: readonly ExtensionInput[],
  options?: LabOptions,
): Promise<readonly Message[]> {
  const { agent, model } = lab(extensions, options);
  await agent.run('go');
  return model.requests[0]?.messages ?? [];
}

const system = (content: string, condition?: Addition['condition']): Addition => ({
  position: 'system_prefix',
  content,
  condition,
});

describe('prompt additions', () => {
  test('S1-7.0: of two extensions reach the model; an unregistered extension adds nothing', async () => {
    const { registry, agent, model } = lab([
      { id: 'a', promptAdditions: [system('A')] },
      { id: 'b', promptAdditions: [system('B')] },
    ]);
    await agent.run('go');
    await registry.unregister('a');
    await agent.run('go');

    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual(['A\n\nB', 'B']);
  });

  test.each([
    [{ position: 'top', content: 'x' }, "`promptAdditions[0].position` must be 'system_prefix', "],
    [{ position: Object.create(null), content: 'x' }, "`promptAdditions[0].position` must be 'system_prefix', "],
    [{ content: 'x' }, "`promptAdditions[0].position` must be 'system_prefix', "],
    [{ position: 'user_prefix', content: 5 }, '`promptAdditions[0].content` must be a string, got 5'],
    [{ position: 'user_prefix', content: 'x', when: 1 }, 'unknown option `promptAdditions[0].when`'],
    [{ position: 'user_prefix', content: 'x', condition: 1 }, '`promptAdditions[0].condition` must be a function, '],
    [
      { position: 'user_prefix', content: 'x', condition: { type: 'constructor' } },
      '`promptAdditions[0].condition` must be a function, ',
    ],
    [
      { position: 'user_prefix', content: 'x', condition: { type: 'tag_present' } },
      '`promptAdditions[0].condition` must be a function, ',
    ],
    [
      { position: 'user_prefix', content: 'x', condition: { type: 'state_value', key: 'k', is: 1 } },
      '`promptAdditions[0].condition` must be a function, ',
    ],
    [5, '`promptAdditions[0]` must be an object, got 5'],
  ])('S1-7.1.1: refuses %j', (addition, problem) => {
    const registry = new ExtensionRegistry();
    let error: unknown;
    try {
      registry.register({ id: 'a', promptAdditions: [addition as Addition] });
    } catch (thrown) {
      error = thrown;
    }

    expect(error).toBeInstanceOf(ExtensionInvalidError);
    expect((error as ExtensionInvalidError).problems).toEqual([expect.stringContaining(problem)]);
    expect(registry.list()).toEqual([]);
  });

  test('S1-7.1.2: are added to each request, and not to the history', async () => {
    const { agent, model } = lab(
      [{ id: 'a', promptAdditions: [system('A'), { position: 'user_suffix', content: 'now' }] }],
      {
        script: [calls('echo', { text: 'x' }), says('done')],
        agent: { tools: [echo], instructions: 'Sail.' },
      },
    );
    const { history } = await agent.run('go');

    expect(JSON.stringify(history)).not.toMatch(/A|now/);
    expect(model.requests.map(({ messages }) => messages.slice(0, 2).map(({ content }) => content))).toEqual([
      ['A\n\nSail.', 'go\n\nnow'],
      ['A\n\nSail.', 'go\n\nnow'],
    ]);
  });

  test('S1-7.1.3, S1-7.2.2: are added at their positions', async () => {
    const promptAdditions = (['user_suffix', 'system_suffix', 'user_prefix', 'system_prefix'] as const).map(
      (position): Addition => ({ position, content: position }),
    );
    const extension: ExtensionInput = { id: 'a', promptAdditions };
    const image = { type: 'image', image: 'aGk=' } as const;
    const parts = { role: 'user', content: [{ type: 'text', text: 'see' }, image] } as const;
    const { agent, model } = lab([extension], { agent: { instructions: 'Sail.' } });
    await agent.run(parts, { messages: [{ role: 'user', content: 'old' }] });

    expect(await requestMessages([extension])).toEqual([
      { role: 'system', content: 'system_prefix\n\nsystem_suffix' },
      { role: 'user', content: 'user_prefix\n\ngo\n\nuser_suffix' },
    ]);
    expect(model.requests[0]?.messages).toEqual([
      { role: 'system', content: 'system_prefix\n\nSail.\n\nsystem_suffix' },
      { role: 'user', content: 'old' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'user_prefix' }, ...parts.content, { type: 'text', text: 'user_suffix' }],
      },
    ]);
  });

  test('with empty content add no message and no part', async () => {
    const image = { type: 'image', image: 'aGk=' } as const;
    const promptAdditions = (['system_prefix', 'system_suffix', 'user_prefix', 'user_suffix'] as const).map(
      (position): Addition => ({ position, content: '' }),
    );
    const { agent, model } = lab([{ id: 'a', promptAdditions }]);
    await agent.run({ role: 'user', content: [image] });

    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: [image] }]);
  });

  test('S1-7.2.1, S1-7.2.3: are sorted by extension id, for any priorities and order of registration', async () => {
    const ids = ['B', 'a', 'a-1', 'a1', 'z', '0'];
    const extension = (id: string, priority: number): ExtensionInput => ({
      id,
      priority,
      promptAdditions: [system(`${id} 2`), system(`${id} 1`), { position: 'user_suffix', content: id }],
      toolConfig: { toolOrder: ['echo', id], lazy: true },
    });
    const expected = ['0', 'B', 'a', 'a-1', 'a1', 'z'].flatMap((id) => [`${id} 2`, `${id} 1`]).join('\n\n');
    const shuffled = fc.shuffledSubarray(ids, { minLength: ids.length });
    const priorities = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: ids.length, maxLength: ids.length });

    await fc.assert(
      fc.asyncProperty(shuffled, priorities, async (order, priority) => {
        const asked = await requestMessages(order.map((id, index) => extension(id, priority[index] as number)));
        expect(asked).toEqual([
          { role: 'system', content: expected },
          { role: 'user', content: ['go', '0', 'B', 'a', 'a-1', 'a1', 'z'].join('\n\n') },
        ]);
      }),
      { numRuns: 100 },
    );
  });

  test('S1-7.3.1, S1-7.3.2: a condition receives the context; a condition that fails is logged and not met', async () => {
    const seen: unknown[] = [];
    const ask = (answer: unknown) => (context: ExtensionContext) => {
      seen.push([context.extensionId, context.sessionId, context.context, context.turn]);
      if (answer instanceof Error) throw answer;
      return answer as boolean;
    };
    const promptAdditions = [
      system('yes', ask(true)),
      system('no', ask(false)),
      system('later', ask(Promise.resolve(true))),
      system('thrown', ask(new Error('boom'))),
      system('wrong', ask('true')),
    ];
    const { agent, model, logger } = lab([{ id: 'a', promptAdditions }]);
    await (await agent.session({ id: 's' })).run('go', { context: { plan: 'pro' } });

    expect(model.requests[0]?.messages[0]?.content).toBe('yes\n\nlater');
    expect(seen).toEqual(Array.from({ length: 5 }, () => ['a', 's', { plan: 'pro' }, 1]));
    expect(logger.records.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      'Extension "a": condition failed in session "s": boom',
      'Extension "a": condition failed in session "s": a condition returns a boolean; got a string.',
    ]);
  });
});

describe('S1-7.3.3: a condition object', () => {
  const texts = (messages: readonly Message[]) => (messages[0]?.role === 'system' ? messages[0].content : undefined);

  test.each([
    ['go <t>now</t>', 't', 'met'],
    ['go <t/>', 't', 'met'],
    ['go <t-x/>', 't-*', 'met'],
    ['go <tt/>', 't', undefined],
    ['go <t>', 't', undefined],
    ['go `<t/>`', 't', undefined],
  ])('tag_present in %j for %j: %s', async (input, tag, met) => {
    const { agent, model } = lab([{ id: 'a', promptAdditions: [system('met', { type: 'tag_present', tag })] }]);
    await agent.run(input);

    expect(texts(model.requests[0]?.messages ?? [])).toBe(met);
  });

  test('tag_present finds a tag that a handler has replaced in this run, and ignores tool results', async () => {
    const condition = { type: 'tag_present', tag: 't' } as const;
    const extension: ExtensionInput = {
      id: 'a',
      tags: 't',
      onTag: () => '',
      promptAdditions: [system('met', condition)],
    };
    const call = [{ name: 'echo', input: { text: '<t/>' } }];
    const { agent, model } = lab([extension], {
      script: [says('', { calls: call }), says('<t/>', { calls: call }), says('done')],
      agent: { tools: [echo] },
    });
    await agent.run('go');

    expect(model.requests.map(({ messages }) => texts(messages))).toEqual([undefined, undefined, 'met']);
  });

  test('state_value is met for any value, or only for the value `equals`', async () => {
    const promptAdditions = [
      system('any', { type: 'state_value', key: 'k' }),
      system('one', { type: 'state_value', key: 'k', equals: { n: [1] } }),
    ];
    let value: unknown = { n: [1] };
    const { agent, model } = lab([
      { id: 'a', promptAdditions, onLlmOutput: (_output, { setState }) => setState('k', value) },
      { id: 'b', promptAdditions: [system('other', { type: 'state_value', key: 'k' })] },
    ]);
    const session = await agent.session({ id: 's' });
    await session.run('1');
    value = 2;
    await session.run('2');
    await session.run('3');

    expect(model.requests.map(({ messages }) => texts(messages))).toEqual([undefined, 'any\n\none', 'any']);
  });

  test.each([
    [{ path: 'user.plan', equals: 'pro' }, 'met'],
    [{ path: 'user.plan', equals: 'free' }, undefined],
    [{ path: 'user.plan' }, 'met'],
    [{ path: 'user.none' }, undefined],
    [{ path: 'user.plan.length' }, undefined],
    [{ path: 'toString' }, undefined],
    [{ path: 'constructor.name', equals: 'Object' }, undefined],
    [{ path: '__proto__' }, undefined],
    [{ path: 'user', equals: { plan: 'pro' } }, 'met'],
    [{ path: 'user', equals: runInNewContext("({ plan: 'pro' })") }, 'met'],
    [{ path: 'user', equals: runInNewContext("({ plan: 'free' })") }, undefined],
  ])('context_match %j: %s', async (members, met) => {
    const condition = { type: 'context_match', ...members } as const;
    const { agent, model } = lab([{ id: 'a', promptAdditions: [system('met', condition)] }]);
    await agent.run('go', { context: { user: { plan: 'pro' } } });

    expect(texts(model.requests[0]?.messages ?? [])).toBe(met);
  });
});

describe('tool guidance', () => {
  const tools = ['a', 'b', 'c', 'd'].map((name) => ({ ...echo, name, execute: () => name }));

  test('S1-8.0, S1-8.2.1, S1-8.2.2, S1-8.2.3: sorts the tools of a request and adds the guidance', async () => {
    const { agent, model } = lab(
      [
        { id: 'x', toolConfig: { preferredTools: ['d'], avoidedTools: ['a'], toolOrder: ['b', 'a'] } },
        { id: 'y', toolConfig: { preferredTools: ['c', 'a'], toolOrder: ['c', 'd'] } },
      ],
      { script: [calls('a', { text: '' }), says('done')], agent: { tools }, registry: { tools } },
    );
    const { messages } = await agent.run('go');

    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a']);
    expect(model.requests[0]?.messages[0]?.content).toBe(
      [
        'Guidance on tools:',
        '- Preferred where they serve: d, c',
        '- To be avoided unless nothing else serves: a',
        '- Suggested order where several are needed: b, then a',
        '- Suggested order where several are needed: c, then d',
      ].join('\n'),
    );
    expect(messages[2]?.content).toEqual([expect.objectContaining({ name: 'a', content: 'a' })]);
  });

  test.each(['preferredTools', 'avoidedTools', 'toolOrder', 'preferred_tools', 'avoided_tools', 'tool_order'])(
    'S1-8.1.1: refuses an unknown tool name in %s',
    (key) => {
      const registry = new ExtensionRegistry({ tools: ['pending', ...tools] });
      registry.register({ id: 'fine', toolConfig: { [key]: ['pending', 'a'] } });
      const problem = `\`toolConfig.${key}\`: no tool is named "gone"; add it`;

      expect(() => registry.register({ id: 'x', toolConfig: { [key]: ['a', 'gone'] } })).toThrow(problem);
      expect(registry.list().map(({ id }) => id)).toEqual(['fine']);
    },
  );

  test('S1-8.1.1: accepts the tools of its agents, and unknown names with `lazy`', async () => {
    const { registry, agent, model } = lab(
      [{ id: 'lazy', toolConfig: { preferredTools: ['b', 'gone'], lazy: true } }],
      {
        agent: { tools },
        registry: { tools: ['pending'] },
      },
    );
    expect(() => registry.register({ id: 'early', toolConfig: { preferredTools: ['a'] } })).toThrow(
      'no tool is named "a"',
    );
    await agent.ready();
    registry.register({ id: 'x', toolConfig: { preferredTools: ['a'] } });
    await agent.run('go');

    expect(model.requests[0]?.messages[0]?.content).toBe('Guidance on tools:\n- Preferred where they serve: b, a');
  });

  test('S1-8.3.1, S1-8.3.2: suggests an order, and calls in a different order succeed', async () => {
    const { agent, model } = lab([{ id: 'x', toolConfig: { tool_order: ['a', 'b'], lazy: true } }], {
      script: [calls({ name: 'b', input: { text: '' } }, { name: 'a', input: { text: '' } }), says('done')],
      agent: { tools },
    });
    const { messages } = await agent.run('go');

    expect(model.requests[0]?.messages[0]?.content).toContain('Suggested order where several are needed: a, then b');
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(messages[2]?.content).toMatchObject([{ content: 'b' }, { content: 'a' }]);
  });

  test('does not mention tools that are not offered', async () => {
    const registry = new ExtensionRegistry({ tools });
    registry.register({ id: 'x', toolConfig: { preferredTools: ['a'], avoidedTools: ['b'] } });
    const model = scriptedModel(() => 'Aye.');
    const agent = new Agent({ model, tools, loaders: [registry], lifecycle: [{ beforeToolSelection: () => [] }] });
    await agent.run('go');

    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'go' }]);
  });

  test.each([
    [{ preferredTools: 'a' }, '`toolConfig.preferredTools` must be an array, got "a"'],
    [{ toolOrder: [1] }, '`toolConfig.toolOrder[0]` must be a non-empty string, got 1'],
    [{ prefer: ['a'] }, 'unknown option `toolConfig.prefer`'],
    [{ lazy: 1 }, '`toolConfig.lazy` must be a boolean, got 1'],
    [[], '`toolConfig` must be an object, got an array'],
  ])('refuses %j', (toolConfig, problem) => {
    expect(() => new ExtensionRegistry({ tools }).register({ id: 'x', toolConfig: toolConfig as never })).toThrow(
      problem,
    );
  });
});
