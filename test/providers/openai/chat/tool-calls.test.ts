import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallFragments } from '../../../../src/providers/openai/chat/tool-calls.js';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** How a server splits its calls into fragments. */
interface Habit {
  readonly index: 'its own' | 'its own, as a string' | 'the same' | 'none';
  readonly id: 'first' | 'always' | 'first, then empty';
  readonly name: 'first' | 'always' | 'first, then empty' | 'in two';
  /** The arguments field of the first fragment and of the last fragment. */
  readonly before: '' | null | undefined;
  readonly after: '' | null | undefined;
}

const call = fc.record({
  id: fc.string({ minLength: 1, maxLength: 6 }),
  // A capital letter only at the start: a later piece that starts like the name would count as a repeat.
  name: fc.stringMatching(/^[A-Z][a-z_]{1,7}$/),
  text: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }).map((input) => JSON.stringify(input)),
});
const calls = fc.uniqueArray(call, { minLength: 1, maxLength: 4, selector: ({ id }) => id });
const habit: fc.Arbitrary<Habit> = fc.record({
  index: fc.constantFrom('its own', 'its own, as a string', 'the same', 'none'),
  id: fc.constantFrom('first', 'always', 'first, then empty'),
  name: fc.constantFrom('first', 'always', 'first, then empty', 'in two'),
  before: fc.constantFrom('', null, undefined),
  after: fc.constantFrom('', null, undefined),
});

test('reassembles calls for any way in which a server splits them', () => {
  fc.assert(
    fc.property(calls, habit, fc.infiniteStream(fc.nat()), (given, habits, random) => {
      const next = (below: number) => (random.next().value as number) % below;
      const queues = given.map((each, at) => fragmentsOf({ ...each, at }, habits, next));
      const isMixed = habits.index.startsWith('its own') || habits.id === 'always';

      expect(listOf(isMixed ? mixed(queues, next) : queues.flat())).toEqual(given);
    }),
    { numRuns: 1000 },
  );
});

test('separates complete calls without index and id', () => {
  fc.assert(
    fc.property(calls, fc.constantFrom(0, null, undefined), (given, index) => {
      const fragments = given.map(({ name, text }) => ({ index, function: { name, arguments: text } }));

      expect(listOf(fragments)).toEqual(given.map((each) => ({ ...each, id: '' })));
    }),
  );
});

test('treats fragments with changing ids as one call', () => {
  const fragments = [
    { index: 0, id: 'a', function: { name: 'look', arguments: '{"at"' } },
    { index: 0, id: 'b', function: { name: 'look', arguments: ':{}' } },
    { index: 0, id: 'c', function: { name: null, arguments: '}' } },
  ];
  const next = { index: 0, id: 'd', function: { name: 'look', arguments: '{}' } };

  expect(listOf([...fragments, next])).toEqual([
    { id: 'a', name: 'look', text: '{"at":{}}' },
    { id: 'd', name: 'look', text: '{}' },
  ]);
});

test('accepts a name after the start of the arguments', () => {
  const fragments = [
    { index: 0, id: 'a', function: { arguments: '{"at"' } },
    { index: 1, id: 'b', function: { name: null, arguments: '{}' } },
    { index: 0, function: { name: 'look', arguments: ':1' } },
    { index: 1, function: { name: 'list' } },
    { index: 0, function: { arguments: '}' } },
  ];

  expect(listOf(fragments)).toEqual([
    { id: 'a', name: 'look', text: '{"at":1}' },
    { id: 'b', name: 'list', text: '{}' },
  ]);
});

test('appends arguments at an unknown index to the latest call', () => {
  const fragments = [
    { index: 0, id: 'a', function: { name: 'look', arguments: '{"at":1}' } },
    { index: 0, id: 'b', function: { name: 'look', arguments: '' } },
    { index: 1, function: { arguments: '{"at"' } },
    { index: 1, function: { arguments: ':2}' } },
  ];

  expect(listOf(fragments)).toEqual([
    { id: 'a', name: 'look', text: '{"at":1}' },
    { id: 'b', name: 'look', text: '{"at":2}' },
  ]);
});

test('drops an index that never gets an id, a name or arguments', () => {
  const called = { index: 0, id: 'a', function: { name: 'look', arguments: '{}' } };
  const places = [1, 2].map((index) => ({ index, id: null, type: null, function: { name: null, arguments: '' } }));

  expect(listOf([called, ...places])).toEqual([{ id: 'a', name: 'look', text: '{}' }]);
});

function listOf(fragments: readonly object[]): readonly Call[] {
  const list = new CallFragments();
  for (const fragment of fragments) list.add({ ...fragment });
  return list.list().map(({ id, function: called }) => {
    const { name, arguments: text } = called as { name: string; arguments: string };
    return { id: id as string, name, text };
  });
}

function fragmentsOf(
  { id, name, text, at }: Call & { readonly at: number },
  habits: Habit,
  next: (below: number) => number,
): object[] {
  const cut = next(text.length);
  const half = 1 + next(name.length - 1);
  const names = habits.name === 'in two' ? [name.slice(0, half), name.slice(half)] : [name, name];
  const texts = [habits.before, habits.before, text.slice(0, cut), text.slice(cut), habits.after];
  return texts.map((piece, order) => ({
    ...indexOf(habits.index, at),
    ...(order === 0 || habits.id === 'always' ? { id } : habits.id === 'first, then empty' && { id: '' }),
    function: { ...nameOf(habits.name, order, names), arguments: piece },
  }));
}

function indexOf(habit: Habit['index'], at: number): object {
  if (habit === 'none') return {};
  if (habit === 'the same') return { index: 0 };
  return { index: habit === 'its own' ? at : String(at) };
}

function nameOf(habit: Habit['name'], order: number, [first, second]: readonly (string | undefined)[]): object {
  if (order === 0) return { name: first };
  if (habit === 'in two') return order === 1 ? { name: second } : {};
  if (habit === 'always') return { name: first };
  return habit === 'first' ? {} : { name: '' };
}

/** Returns the first fragments in order, then the other fragments of all calls interleaved. */
function mixed(queues: readonly object[][], next: (below: number) => number): readonly object[] {
  const fragments = queues.map((queue) => queue.shift() ?? {});
  const rest = queues.filter((queue) => queue.length > 0);
  while (rest.length > 0) {
    const at = next(rest.length);
    fragments.push(rest[at]?.shift() ?? {});
    if (rest[at]?.length === 0) rest.splice(at, 1);
  }
  return fragments;
}
