import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import {
  agentWith,
  answers,
  countingTool,
  hooksIn,
  recorded,
  records,
  runOnce,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

test('S0-13.3: later hooks get the data of earlier hooks, and the event data does not change', async () => {
  const { tool, inputs } = countingTool('look');
  const hooks = hooksIn(lab, {
    hooks: [
      answers('before_tool', { continue: true, ticket: 'X', args: { evil: 1 }, data: { k: 1 } }, { name: 'first' }),
      records('before_tool', { name: 'second' }),
      answers('before_tool', { data: { k: 2 } }, { name: 'third' }),
      records('before_tool', { name: 'fourth' }),
    ],
  });
  const { agent } = agentWith(lab, hooks, { script: [calls('look', { at: 1 }), says('ok')], tools: [tool] });
  await agent.run('go');
  const first = { ticket: 'X', args: { evil: 1 }, k: 1 };

  expect(recorded(lab).map(({ hook_data, hook_outputs }) => ({ hook_data, hook_outputs }))).toEqual([
    { hook_data: first, hook_outputs: { first } },
    { hook_data: { ...first, k: 2 }, hook_outputs: { first, third: { k: 2 } } },
  ]);
  expect(recorded(lab).map(({ data }) => (data as { args: unknown }).args)).toEqual([{ at: 1 }, { at: 1 }]);
  expect(inputs).toEqual([{ at: 1 }]);
});

test('S0-13.4: the result contains all outputs unchanged and in order', async () => {
  const outputs = [{ a: 1 }, { continue: true, data: { deep: [1, { x: null }] }, reason: 'r' }, { z: 'ü' }];
  const result = await runOnce(
    lab,
    outputs.map((output, n) => answers('after_agent', output, { name: `n${n}` })),
  );

  expect(result.outcomes.map(({ hook, output }) => [hook, output])).toEqual(
    outputs.map((output, n) => [`n${n}`, output]),
  );
});

test('hooks can rewrite the arguments, the result and the prompt, and later hooks get the rewritten values', async () => {
  const { tool, inputs } = countingTool('look');
  const hooks = hooksIn(lab, {
    hooks: [
      answers('before_agent', { updatedPrompt: 'go slowly' }),
      answers('before_tool', { updatedInput: { at: 2 } }),
      records('before_tool'),
      answers('after_tool', { updatedOutput: { seen: true } }),
      records('after_tool'),
    ],
  });
  const { agent, model } = agentWith(lab, hooks, { script: [calls('look', { at: 1 }), says('ok')], tools: [tool] });
  const { decisions } = await agent.run('go');

  expect(inputs).toEqual([{ at: 2 }]);
  expect(recorded(lab).map(({ data }) => data)).toMatchObject([
    { args: { at: 2 } },
    { result: { content: '{"seen":true}' } },
  ]);
  expect(model.requests[0]?.messages[0]).toEqual({ role: 'user', content: 'go slowly' });
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ structured: { seen: true } }] });
  expect(decisions.map(({ type, point }) => [type, point])).toEqual([
    ['modify', 'beforeAgent'],
    ['modify', 'wrapToolCall'],
    ['modify', 'wrapToolCall'],
  ]);
});

test('validates rewritten arguments like arguments of the model', async () => {
  const { tool, inputs } = countingTool('look');
  const strict = {
    ...tool,
    check: (input: unknown) =>
      (input as { at?: unknown }).at === 'x' ? { issues: [{ message: 'no' }] } : { value: input },
  };
  const hooks = hooksIn(lab, { hooks: [answers('before_tool', { updatedInput: { at: 'x' } })] });
  const { agent, model } = agentWith(lab, hooks, { script: [calls('look', { at: 1 }), says('ok')], tools: [strict] });
  await agent.run('go');

  expect(inputs).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('are not valid');
});

test('a failed result stays failed after a hook rewrites its content', async () => {
  const { tool } = countingTool('bad', () => {
    throw new TypeError('secret path');
  });
  const hooks = hooksIn(lab, { hooks: [answers('after_tool', { updatedOutput: 'it failed' })] });
  const { agent, model } = agentWith(lab, hooks, { script: [calls('bad', {}), says('ok')], tools: [tool] });
  await agent.run('go');

  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ content: 'it failed', isError: true }] });
});

test('hooks can remove tools but not add tools', async () => {
  const tools = ['a', 'b', 'c'].map((name) => countingTool(name).tool);
  const hooks = hooksIn(lab, {
    hooks: [
      answers('before_tool_selection', { updatedTools: ['b', 'c', 'forbidden'] }, { name: 'x' }),
      answers('before_tool_selection', { updatedTools: ['a', 'b'] }, { name: 'y' }),
    ],
  });
  const { agent, model } = agentWith(lab, hooks, { script: [says('ok')], tools });
  await agent.run('go');

  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['b']);
});

test('hooks can be added and removed while the agent exists, with effect at the next event', async () => {
  const hooks = hooksIn(lab, {});
  const { agent } = agentWith(lab, hooks, { script: says('ok') as never });
  await agent.run('one');
  const { id } = hooks.registry.register(records('before_agent'));
  await agent.run('two');
  hooks.registry.unregister(id);
  await agent.run('three');

  expect(recorded(lab).map(({ prompt }) => prompt)).toEqual(['two']);
  expect(agent.status().lifecycles).toEqual([]);
});

test('installs no lifecycle without hooks, and otherwise only the needed ones', async () => {
  const hooks = hooksIn(lab, {});
  const { agent } = agentWith(lab, hooks, { script: says('ok') as never });
  await agent.ready();
  const names = () => agent.status().lifecycles.map(({ name, priority }) => [name, priority]);

  expect(names()).toEqual([]);
  hooks.registry.register(sh('before_tool', 'true'));
  expect(names()).toEqual([
    ['shell-hooks:frames', 100],
    ['shell-hooks', 10],
  ]);
  hooks.registry.register(sh('after_tool', 'true'));
  expect(names()).toEqual([
    ['shell-hooks:frames', 100],
    ['shell-hooks:after_tool', 95],
    ['shell-hooks', 10],
    ['shell-hooks:calls', 0],
  ]);
});

test('a session_start hook has no time limit but its own', async () => {
  const hooks = hooksIn(lab, {});
  const { agent } = agentWith(lab, hooks, { script: says('ok') as never });
  await agent.ready();
  hooks.registry.register({ ...sh('session_start', 'true'), timeout: 120_000 });

  expect(agent.status().lifecycles.map(({ name, hooks: points }) => [name, points])).toContainEqual([
    'shell-hooks:session',
    ['onSessionStart'],
  ]);
  expect(agent.lifecycle.find(({ onSessionStart }) => onSessionStart !== undefined)?.timeoutMs).toBe(2_147_483_647);
});

test('an event without a hook starts no process and serializes no data', async () => {
  let spawned = 0;
  const spawn = (() => {
    spawned += 1;
    throw new TypeError('spawned');
  }) as never;
  const { tool } = countingTool('look');
  const unreadable = {
    get at(): never {
      throw new TypeError('serialised');
    },
  };
  const hooks = hooksIn(lab, {
    hooks: [records('before_tool', { matcher: 'other' }), records('after_tool', { matcher: 'other' })],
    machine: { spawn },
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('look', {}), says('ok')],
    tools: [{ ...tool, check: () => ({ value: unreadable }) }, countingTool('other').tool],
  });

  expect((await agent.run('go')).text).toBe('ok');
  expect([spawned, lab.logs]).toEqual([0, []]);
});

test('a run in progress keeps its guards during a reload', async () => {
  lab.write(
    'hooks.json',
    JSON.stringify({
      hooks: { before_tool: [{ name: 'no', command: 'sh', args: ['-c', `echo '{"continue":false}'`] }] },
    }),
  );
  const hooks = hooksIn(lab, { files: [{ path: 'hooks.json', scope: 'builtin' }] });
  const first = countingTool('first');
  const second = countingTool('second');
  const { agent } = agentWith(lab, hooks, {
    script: [calls('first', {}), calls('second', {}), says('ok')],
    tools: [first.tool, second.tool],
    lifecycle: [{ beforeModel: async (_messages, run) => void (run.turn === 2 && (await hooks.reload())) }],
  });
  await agent.run('go');

  expect([first.inputs, second.inputs, hooks.status().hooks.length]).toEqual([[], [], 1]);
});

test('throws for invalid options', () => {
  const problem = (options: object) => {
    try {
      hooksIn(lab, options);
      return undefined;
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };

  expect(problem({ hooks: { timeout: 0 } })).toBe('ERR_OPTION_INVALID');
  expect(problem({ hooks: 'x' })).toBe('ERR_OPTION_INVALID');
  expect(problem({ hook: [] })).toBe('ERR_OPTION_INVALID');
  expect(problem({ discover: ['vim'] })).toBe('ERR_OPTION_INVALID');
  expect(problem({ appName: '../x' })).toBe('ERR_OPTION_INVALID');
  expect(problem({ hooks: { befor_tool: [] } })).toBe('ERR_HOOK_INVALID');
  expect(problem({ hooks: { before_tool: [{ name: 'x' }] } })).toBe('ERR_HOOK_INVALID');
  expect(problem({ hooks: [{ event: 'before_tool', name: 'x' }] })).toBe('ERR_HOOK_INVALID');
  expect(problem({ hooks: { timeout: 1_000, before_tool: [] } })).toBeUndefined();
});

test.each([
  [{ hooks: 'x' }, 'hooks-invalid'],
  [{ hooks: { timeout: 0 } }, 'timeout-invalid'],
])('reports the invalid user file %j', async (document, code) => {
  const own = join(lab.home, '.keelson');
  mkdirSync(own);
  writeFileSync(join(own, 'hooks.json'), JSON.stringify(document));
  const hooks = hooksIn(lab, { discover: ['native'] });
  await hooks.reload();

  expect(hooks.status().diagnostics).toMatchObject([
    { level: 'error', code, message: expect.stringContaining('hooks') },
  ]);
});

const KINDS: readonly (readonly [string, readonly unknown[]])[] = [
  ...['workspaceDir', 'appName'].map((name) => [name, [null, 5, '']] as const),
  ...['files', 'discover', 'sensitive'].map((name) => [name, [null, 5, 'token', [5]]] as const),
  ['inheritEnv', [null, 5, 'yes', [], { include: 'A' }]],
  ...['toolNames', 'machine'].map((name) => [name, [null, 5, 'x', []]] as const),
  ...['approve', 'redact', 'onDiagnostic', 'onNotice', 'gate', 'registry'].map(
    (name) => [name, [null, 'yes', {}]] as const,
  ),
];

test.each(KINDS)('throws an error with the option name if %s has an invalid type', (option, values) => {
  const refused = expect.objectContaining({
    code: 'ERR_OPTION_INVALID',
    option: expect.stringMatching(`^${option}(\\[0\\]|\\.\\w+)?$`),
    message: expect.stringMatching(`^\`${option}.* must be .*, got `),
  });
  for (const value of values) expect(() => shellHooks({ [option]: value })).toThrow(refused);
});

test('before_tool gets the arguments, and after_tool the result, as other lifecycles rewrote them', async () => {
  const { tool } = countingTool('look', () => 'the key is 1234');
  const hooks = hooksIn(lab, { hooks: [records('before_tool'), records('after_tool')] });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('look', { at: 1 }), says('ok')],
    tools: [tool],
    lifecycle: [
      {
        async wrapToolCall(call, next) {
          const result = await next({ ...call, input: { at: 7 } });
          return { ...result, content: 'the key is ****' };
        },
      },
    ],
  });
  await agent.run('go');

  expect(recorded(lab).map(({ data }) => data)).toMatchObject([
    { args: { at: 7 } },
    { args: { at: 7 }, result: { content: 'the key is ****' } },
  ]);
});

test('a hook runs only for tools that its matcher matches', async () => {
  const hooks = hooksIn(lab, {
    hooks: [records('before_tool', { matcher: 'a|b' }), records('after_tool', { matcher: '^c' })],
  });
  const tools = ['a', 'ab', 'c'].map((name) => countingTool(name).tool);
  const script = [calls({ name: 'a' }, { name: 'ab' }, { name: 'c' }), says('ok')];
  const { agent } = agentWith(lab, hooks, { script, tools });
  await agent.run('go');

  expect(
    recorded(lab)
      .map(({ event, tool_name }) => `${event} ${tool_name}`)
      .sort(),
  ).toEqual(['after_tool c', 'before_tool a']);
});

test('one loader serves one agent', async () => {
  const hooks = hooksIn(lab, {});
  await agentWith(lab, hooks, { script: [] }).agent.ready();

  await expect(agentWith(lab, hooks, { script: [] }).agent.ready()).rejects.toMatchObject({
    code: 'ERR_LOADER_FAILED',
  });
});
