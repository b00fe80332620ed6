import fc from 'fast-check';
import { HOOK_EVENTS, type HookDefinition, HookInvalidError, HookRegistry } from 'keelson/shell-hooks';
import { says } from 'keelson/testing';
import { createTrustGate, type TrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { agentWith, hooksIn, runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const hook = (name: string, event: HookDefinition['event'] = 'before_tool') => ({ event, name, command: 'true' });
const namesOf = (registry: HookRegistry, event: HookDefinition['event']) =>
  registry.hooksOf(event).map(({ name }) => name);

function problemsOf(definition: object): readonly string[] {
  try {
    new HookRegistry().register(definition as HookDefinition);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(HookInvalidError);
    return (error as HookInvalidError).problems;
  }
}

test('S0-2.1: each event has its own hooks', () => {
  const registry = new HookRegistry();
  registry.register(hook('a', 'before_tool'));
  registry.register(hook('b', 'after_tool'));

  expect(HOOK_EVENTS.map((event) => namesOf(registry, event)).filter((names) => names.length > 0)).toEqual(
    [['b'], ['a']].reverse(),
  );
  expect(namesOf(registry, 'session_end')).toEqual([]);
});

test('S0-2.2: keeps all settings of a registered hook', () => {
  const registry = new HookRegistry();
  const given = { ...hook('guard'), args: ['a', 'b c'], matcher: 'x|y', timeout: 5, onFailure: 'block' as const };
  const stored = registry.register(given);

  expect(registry.hooksOf('before_tool')).toEqual([stored]);
  expect(stored).toMatchObject({ ...given, scope: 'builtin', dialect: 'native' });
});

test('S0-2.3: keeps hooks in order of registration, not of their names', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'z-9', 'ü'), { minLength: 50, maxLength: 60 }), (names) => {
      const registry = new HookRegistry();
      for (const name of names) registry.register(hook(name));

      expect(namesOf(registry, 'before_tool')).toEqual(names);
    }),
    { numRuns: 20 },
  );
});

test('S0-2.4: runs all hooks of an event', async () => {
  const { outcomes } = await runOnce(
    lab,
    ['a', 'b', 'c'].map((name) => sh('before_tool', `echo ${name} >> order`, { name })),
  );

  expect(outcomes.map(({ hook: name, status }) => [name, status])).toEqual([
    ['a', 'completed'],
    ['b', 'completed'],
    ['c', 'completed'],
  ]);
  expect(lab.read('order')).toBe('a\nb\nc\n');
});

test('S0-2.5: unregister removes all hooks with a name, or the hook with an id, and returns their number', () => {
  const registry = new HookRegistry();
  registry.register(hook('a', 'before_tool'));
  registry.register(hook('a', 'after_tool'));
  const { id } = registry.register(hook('b', 'before_tool'));

  expect(registry.unregister('a')).toBe(2);
  expect([namesOf(registry, 'before_tool'), namesOf(registry, 'after_tool')]).toEqual([['b'], []]);
  expect(registry.unregister('a')).toBe(0);
  expect(registry.unregister('constructor')).toBe(0);
  expect(registry.unregister(id)).toBe(1);
});

test('unregisterExtension removes all hooks of an extension', () => {
  const registry = new HookRegistry();
  for (const event of ['before_tool', 'after_tool'] as const)
    registry.register({ ...hook('a', event), extension: 'x' });
  registry.register(hook('b'));

  expect(registry.unregisterExtension('x')).toBe(2);
  expect(registry.list().map(({ name }) => name)).toEqual(['b']);
  expect(registry.unregisterExtension('x')).toBe(0);
});

test('unregister can be limited to one event or one extension', () => {
  const registry = new HookRegistry();
  for (const event of ['before_tool', 'after_tool'] as const) registry.register(hook('a', event));
  registry.register({ ...hook('a'), extension: 'x' });

  expect(registry.unregister('a', { event: 'after_tool' })).toBe(1);
  expect(registry.unregister('a', { extension: 'x' })).toBe(1);
  expect(namesOf(registry, 'before_tool')).toEqual(['a']);
});

test('a returned array does not change, and listeners are called for each change until they are removed', () => {
  const registry = new HookRegistry();
  let changes = 0;
  const leave = registry.onChange(() => {
    changes += 1;
  });
  const before = registry.hooksOf('before_tool');
  registry.register(hook('a'));
  registry.unregister('nothing');
  registry.unregister('a');
  leave();
  registry.register(hook('b'));

  expect([changes, before]).toEqual([2, []]);
});

test.each([0, -1, Number.NaN, 1e12, Number.POSITIVE_INFINITY, '30', null])(
  'A22: register refuses a hook with the timeout %s',
  (timeout) => {
    expect(problemsOf({ ...hook('a'), timeout })).toEqual([
      expect.stringContaining('`timeout` must be milliseconds from 1 to '),
    ]);
  },
);

test('A13: register refuses a NUL character in the command line', () => {
  expect(problemsOf({ ...hook('a'), args: ['x\0y'] })).toEqual([
    '`args[0]` must be a string without NUL characters, got "x\\u0000y"',
  ]);
  expect(problemsOf({ ...hook('a'), command: 'x\0y' })).toEqual([
    '`command` must be a non-empty string without NUL characters, got "x\\u0000y"',
  ]);
});

test.each(['(', '[a-', '(?<x', '*abc('])(
  'B24: register refuses a hook with the invalid regular expression %s',
  (matcher) => {
    expect(problemsOf({ ...hook('a'), matcher })).toEqual([
      expect.stringContaining('`matcher` must be a valid regular expression'),
    ]);
  },
);

test('splits a command line of plain words if the hook has no args', () => {
  const split = (command: string) => {
    const { command: program, args } = new HookRegistry().register({ ...hook('a'), command });
    return [program, ...(args ?? ['(no args)'])];
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the variable of the extension directory uses this syntax
  const own = '${extensionPath}/guard.sh --level=2';

  expect(split('  node guard.mjs  --strict ')).toEqual(['node', 'guard.mjs', '--strict']);
  expect(split(own)).toEqual(own.split(' '));
  expect(split('guard')).toEqual(['guard', '(no args)']);
});

test.each(['echo hi | cat', 'node "a b"', 'A=1 node x', 'cat *.md', 'echo $HOME', 'a\nb', 'run ~/x', 'a b;c'])(
  'refuses the command line %j without args, with advice',
  (command) => {
    expect(problemsOf({ ...hook('a'), command })).toEqual([
      expect.stringMatching(/^`command` must consist of plain words .*set `args` .*`shell: true`/),
    ]);
    expect(problemsOf({ ...hook('a'), command, args: [] })).toEqual([]);
    expect(problemsOf({ ...hook('a'), command, shell: true })).toEqual([]);
  },
);

test('lists all problems of a hook in one error, with the nearest event name', () => {
  const bad = { event: 'befor_tool', name: '', command: '', env: { 'A=B': 'x' }, onFailure: 'explode', mather: '*' };

  expect(problemsOf(bad)).toEqual([
    'unknown setting `mather`; did you mean `matcher`?',
    'unknown event `befor_tool`; did you mean `before_tool`?',
    '`name` must be a string of 1 to 128 characters without control characters, got ""',
    '`command` must be a non-empty string without NUL characters, got ""',
    '`env` must be an object of variable names and string values without NUL characters, got an object',
    `\`onFailure\` must be 'continue' or 'block', got "explode"`,
  ]);
  expect(problemsOf(null as never)).toEqual(['it must be an object']);
});

test('accepts or refuses any JSON value for any field, with a HookInvalidError', () => {
  const fields = [
    'event',
    'name',
    'command',
    'args',
    'shell',
    'matcher',
    'timeout',
    'env',
    'cwd',
    'onFailure',
    'files',
  ];
  const value = fc.oneof(fc.jsonValue(), fc.constant({ toString: 1 }), fc.constant([{ toJSON: 1 }]));

  fc.assert(
    fc.property(fc.constantFrom(...fields), value, (field, given) => {
      problemsOf({ ...hook('a'), [field]: given });
    }),
  );
});

test('a hook whose name is the id of another hook is not removed by that id', () => {
  const registry = new HookRegistry();
  const first = registry.register(hook('a'));
  registry.register(hook(first.id));

  expect(registry.unregister(first.id)).toBe(1);
  expect(namesOf(registry, 'before_tool')).toEqual([first.id]);
});

test('clear removes all hooks of all origins and calls the listeners once', () => {
  const registry = new HookRegistry();
  registry.register(hook('a'));
  registry.register({ ...hook('b', 'after_tool'), extension: 'x' });
  let told = 0;
  registry.onChange(() => {
    told += 1;
  });

  expect(registry.clear()).toBe(2);
  expect(registry.list()).toEqual([]);
  expect(registry.clear()).toBe(0);
  expect(told).toBe(1);
});

test('replace keeps the id of an unchanged hook and puts the new hooks at the position of the old ones', () => {
  const registry = new HookRegistry();
  const first = registry.register(hook('a'));
  const second = registry.register(hook('b'));
  registry.register({ ...hook('c'), extension: 'x' });

  const placed = registry.replace([first.id, second.id], [{ ...hook('a'), timeout: 5 }, hook('b'), hook('d')]);

  expect(namesOf(registry, 'before_tool')).toEqual(['a', 'b', 'd', 'c']);
  expect(placed.map(({ ordinal }) => ordinal)).toEqual([1, 1, 1]);
  expect(placed[1]).toBe(second);
  expect(placed[0]?.id).not.toBe(first.id);
  registry.replace([], [hook('e', 'after_tool')]);
  expect(namesOf(registry, 'after_tool')).toEqual(['e']);
});

test('replace changes nothing if one of the hooks is invalid', () => {
  const registry = new HookRegistry();
  const { id } = registry.register(hook('a'));

  expect(() => registry.replace([id], [hook('b'), {} as HookDefinition])).toThrow(HookInvalidError);
  expect(namesOf(registry, 'before_tool')).toEqual(['a']);
});

test('a check that fails after a change of the registry is logged, and closing goes on', async () => {
  const inner = createTrustGate({ workspaceDir: lab.workspace, logger: lab.logger });
  const check = () => Promise.reject(new RangeError('no answer'));
  const gate = new Proxy<TrustGate>(inner, {
    get: (target, key) => (key === 'check' ? check : Reflect.get(target, key)),
  });
  const hooks = hooksIn(lab, { gate });
  const { agent } = agentWith(lab, hooks, { script: [says('ok')] });
  await agent.run('go');
  hooks.registry.register({ ...hook('of-user'), scope: 'user' });
  await hooks.close?.();

  expect(lab.logged('error').map(({ message }) => message)).toEqual([
    'A change of the hooks did not take effect everywhere: no answer',
  ]);
  await agent.close();
});

test('closing waits until the checks of a changed registry have ended', async () => {
  const checks = { begun: 0, ended: 0 };
  const inner = createTrustGate({ workspaceDir: lab.workspace, logger: lab.logger });
  const gate = new Proxy<TrustGate>(inner, {
    get: (target, key) => (key === 'check' ? slowCheck : Reflect.get(target, key)),
  });
  const slowCheck: TrustGate['check'] = async (item) => {
    checks.begun += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    checks.ended += 1;
    return inner.authorize(item);
  };
  const hooks = hooksIn(lab, { gate });
  const { agent } = agentWith(lab, hooks, { script: [says('ok')] });
  await agent.run('go');
  hooks.registry.register({ ...hook('of-user'), scope: 'user' });
  await agent.close();

  expect(checks).toEqual({ begun: 1, ended: 1 });
});
