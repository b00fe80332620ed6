import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  HOOK_EVENTS,
  type HookDefinition,
  HookInvalidError,
  HookRegistry,
} from '../../../src/shell-hooks/shell-hooks.js';
import { runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

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

test('S0-2.2: a hook is kept as it was given', () => {
  const registry = new HookRegistry();
  const given = { ...hook('guard'), args: ['a', 'b c'], matcher: 'x|y', timeout: 5, onFailure: 'block' as const };
  const stored = registry.register(given);

  expect(registry.hooksOf('before_tool')).toEqual([stored]);
  expect(stored).toMatchObject({ ...given, scope: 'builtin', dialect: 'native' });
});

test('S0-2.3: hooks come in the order in which they were registered, whatever they are called', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'z-9', 'ü'), { minLength: 50, maxLength: 60 }), (names) => {
      const registry = new HookRegistry();
      for (const name of names) registry.register(hook(name));

      expect(namesOf(registry, 'before_tool')).toEqual(names);
    }),
    { numRuns: 20 },
  );
});

test('S0-2.4: several hooks of one event all run', async () => {
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

test('S0-2.5: unregister removes all of a name, or the one of an id, and says how many', () => {
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

test('all hooks of an extension can be removed at once', () => {
  const registry = new HookRegistry();
  for (const event of ['before_tool', 'after_tool'] as const)
    registry.register({ ...hook('a', event), extension: 'x' });
  registry.register(hook('b'));

  expect(registry.unregisterExtension('x')).toBe(2);
  expect(registry.list().map(({ name }) => name)).toEqual(['b']);
  expect(registry.unregisterExtension('x')).toBe(0);
});

test('unregister can be held to one event, or to one extension', () => {
  const registry = new HookRegistry();
  for (const event of ['before_tool', 'after_tool'] as const) registry.register(hook('a', event));
  registry.register({ ...hook('a'), extension: 'x' });

  expect(registry.unregister('a', { event: 'after_tool' })).toBe(1);
  expect(registry.unregister('a', { extension: 'x' })).toBe(1);
  expect(namesOf(registry, 'before_tool')).toEqual(['a']);
});

test('a list that was read does not change, and listeners hear of each change until they leave', () => {
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
  'A22: a time-out of %s is refused as the hook is registered',
  (timeout) => {
    expect(problemsOf({ ...hook('a'), timeout })).toEqual([
      expect.stringContaining('`timeout` must be milliseconds from 1 to '),
    ]);
  },
);

test('A13: a NUL in the command line is refused as the hook is registered', () => {
  expect(problemsOf({ ...hook('a'), args: ['x\0y'] })).toEqual([
    '`args[0]` must be a string without NUL characters, got "x\\u0000y"',
  ]);
  expect(problemsOf({ ...hook('a'), command: 'x\0y' })).toEqual([
    '`command` must be a non-empty string without NUL characters, got "x\\u0000y"',
  ]);
});

test.each(['(', '[a-', '(?<x', '*abc('])('B24: a hook whose matcher %s is an invalid pattern is refused', (matcher) => {
  expect(problemsOf({ ...hook('a'), matcher })).toEqual([expect.stringContaining('`matcher` is an invalid pattern')]);
});

test('a command with spaces and without arguments is refused, and the message says how to mend it', () => {
  expect(problemsOf({ ...hook('a'), command: 'node guard.mjs' })).toEqual([
    '`command` has spaces and there are no `args`: give `args` (`[]` for none), or `shell: true`',
  ]);
  expect(problemsOf({ ...hook('a'), command: 'my guard', args: [] })).toEqual([]);
  expect(problemsOf({ ...hook('a'), command: 'echo hi | cat', shell: true })).toEqual([]);
});

test('everything that is wrong is named at once, with the event that was meant', () => {
  const bad = { event: 'befor_tool', name: '', command: '', env: { 'A=B': 'x' }, onFailure: 'explode', mather: '*' };

  expect(problemsOf(bad)).toEqual([
    'unknown setting `mather`; did you mean `matcher`?',
    'unknown event `befor_tool`; did you mean `before_tool`?',
    '`name` must be a string of 1 to 128 characters without control characters, got ""',
    '`command` must be a non-empty string without NUL characters, got ""',
    '`env` must be an object of strings without NUL characters, by the names of variables, got an object',
    `\`onFailure\` must be 'continue' or 'block', got "explode"`,
  ]);
  expect(problemsOf(null as never)).toEqual(['it must be an object']);
});

test('any JSON for any field is taken, or refused as what it is', () => {
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

test('a hook that is called as another one is numbered is not taken for it', () => {
  const registry = new HookRegistry();
  const first = registry.register(hook('a'));
  registry.register(hook(first.id));

  expect(registry.unregister(first.id)).toBe(1);
  expect(namesOf(registry, 'before_tool')).toEqual([first.id]);
});

test('clear removes every hook, whoever registered it, and tells the listeners once', () => {
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

test('replace keeps an equal hook under its id, puts the others in its place, and names none twice', () => {
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
