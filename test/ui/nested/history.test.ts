import type { Entry, Message } from 'keelson';
import type { EntryBody } from 'keelson/store';
import { toAgUIMessages, toUIMessages } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { drawnRuns } from '../../support/ui/nested-agents.js';

const call = (id: string, name = 'helper', input: unknown = {}) => ({ type: 'tool-call', id, name, input }) as const;
const says = (text: string, ...asked: readonly ReturnType<typeof call>[]): Message => ({
  role: 'assistant',
  content: [...(text === '' ? [] : [{ type: 'text', text } as const]), ...asked],
});
const result = (id: string, content: string, more: object = {}): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', id, name: 'helper', content, ...more }],
});
const user: Message = { role: 'user', content: 'Go.' };

/** A run, and the run around it. */
type Place = Pick<Entry, 'run' | 'agent' | 'path'> & { readonly outer?: string };
const boss: Place = { run: 'r' };
const helper = (id = 'h', run = `${id}/1`): Place => ({ run, agent: 'helper', path: [id], outer: 'r' });
const diver: Place = { run: 'd/1', agent: 'diver', path: ['h', 'd'], outer: 'h/1' };

/** Adds entries of runs. The entries of each run follow each other. */
function recordOf(...rows: readonly (readonly [Place, Message | EntryBody])[]): Entry[] {
  const tips = new Map<string | undefined, string>();
  const turns = new Map<string | undefined, number>();
  return rows.map(([{ outer, ...place }, given], index) => {
    const id = `e${index + 1}`;
    const parent = tips.get(place.run) ?? tips.get(outer);
    if (!('role' in given)) return { id, parent, at: index, ...place, body: given };
    tips.set(place.run, id);
    const turn = (turns.get(place.run) ?? 0) + (given.role === 'assistant' ? 1 : 0);
    turns.set(place.run, turn);
    return { id, parent, at: index, ...place, body: { type: 'message', message: given, turn } };
  });
}

const suspended = (id: string): EntryBody => ({ type: 'suspended', calls: [{ id, reason: 'Sure?', by: 'approval' }] });
const partsOf = (entries: readonly Entry[], decides = true) =>
  toUIMessages(entries, { decides }).flatMap(({ parts }) => parts);
const drawnIn = (entries: readonly Entry[], decides = true) => drawnRuns(partsOf(entries, decides));

const done = recordOf(
  [boss, user],
  [boss, says('', call('h'))],
  [helper(), user],
  [helper(), says('Looking.', call('s', 'sonar', { at: 'bow' }), call('d', 'diver'))],
  [diver, user],
  [diver, says('A rope.')],
  [helper(), result('s', '12', { structured: { metres: 12 } })],
  [helper(), result('d', 'A rope.')],
  [helper(), says('Clear.')],
  [boss, result('h', 'Clear.')],
  [boss, says('Go on.')],
);
const drawn = [
  'h helper completed',
  '  1: Looking.',
  '  1: sonar s done {"at":"bow"} {"metres":12}',
  '  1: diver d done {} "A rope."',
  '  2: Clear.',
  'h/d diver completed',
  '  1: A rope.',
];

describe('a page that is loaded shows the runs inside of tool calls', () => {
  test('as parts of the message with the call', () => {
    const parts = partsOf(done);

    expect(drawnRuns(parts)).toEqual(drawn);
    expect(parts.filter(({ type }) => !type.startsWith('data-')).map(({ type }) => type)).toEqual([
      'text',
      'step-start',
      'tool-helper',
      'step-start',
      'text',
    ]);
  });

  test('as activities of AG-UI, between the call and its result', () => {
    const messages = toAgUIMessages(done);
    const activities = messages.flatMap((message) =>
      message.role === 'activity' ? [{ type: message.activityType, data: message.content }] : [],
    );

    expect(drawnRuns(activities)).toEqual(drawn);
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      ...activities.map(() => 'activity'),
      'tool',
      'assistant',
    ]);
  });

  test('with a call that waits, unless the page must not decide', () => {
    const waits = recordOf(
      [boss, user],
      [boss, says('', call('h'))],
      [helper(), user],
      [helper(), says('', call('p', 'pay', { euro: 4 }))],
      [helper(), suspended('p')],
    );

    expect(drawnIn(waits)).toEqual(['h helper suspended', '  1: pay p pending {"euro":4} Sure? approval']);
    expect(drawnIn(waits, false)).toEqual(['h helper suspended', '  1: pay p running {"euro":4}']);
  });

  test.each([
    ['failed', result('h', 'No line.', { isError: true })],
    ['stopped', result('h', 'I left.')],
  ])('that have %s', (status, end) => {
    const rows = [
      [boss, user],
      [boss, says('', call('h'))],
      [helper(), user],
      [helper(), says('', call('s'))],
    ] as const;

    expect(drawnIn(recordOf(...rows))).toEqual(['h helper running', '  1: helper s running {}']);
    expect(drawnIn(recordOf(...rows, [boss, end]))).toEqual([`h helper ${status}`, '  1: helper s running {}']);
  });

  test('with the text before a stop', () => {
    const message = { ...says('Half'), stopped: true } as Message;

    expect(drawnIn(recordOf([boss, user], [boss, says('', call('h'))], [helper(), user], [helper(), message]))).toEqual(
      ['h helper stopped', '  1: Half'],
    );
  });

  test('of several runs in one call, and of a call that another branch has under the same id', () => {
    const record = recordOf(
      [boss, user],
      [boss, says('', call('h'))],
      [helper(), user],
      [helper(), says('One.')],
      [helper('h', 'h/2'), user],
      [helper('h', 'h/2'), says('Two.')],
      [boss, result('h', 'Two.')],
      [boss, { type: 'head' }],
    );
    const head = record.map((entry) => (entry.body.type === 'head' ? { ...entry, parent: 'e1' } : entry));
    const again: Entry[] = [
      ...head,
      { id: 'b1', parent: 'e1', at: 9, run: 'q', body: { type: 'message', message: says('', call('h')), turn: 1 } },
      {
        id: 'b2',
        parent: 'b1',
        at: 9,
        run: 'q/1',
        agent: 'helper',
        path: ['h'],
        body: { type: 'message', message: says('Three.'), turn: 1 },
      },
    ];

    expect(drawnIn(record.slice(0, -1))).toEqual([
      'h helper completed',
      '  1: One.',
      'h helper completed',
      '  1: Two.',
    ]);
    expect(drawnIn(again)).toEqual(['h helper completed', '  1: Three.']);
  });
});
