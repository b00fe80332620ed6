import type { Entry, Message } from 'keelson';
import type { EntryBody } from 'keelson/store';
import { toUIMessages } from 'keelson/ui';
import { expect, test } from 'vitest';
import { entriesOf } from '../../support/ui/entries-of.js';

const call = (id: string, input: unknown = {}) => ({ type: 'tool-call', id, name: 'add', input }) as const;
const result = (id: string, more: object = {}) =>
  ({ type: 'tool-result', id, name: 'add', content: '3', ...more }) as const;

test('joins all turns of one answer into one message', () => {
  const history: Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [{ type: 'reasoning', text: 'Easy.' }, call('c1', { a: 1 })] },
    { role: 'tool', content: [result('c1', { structured: { sum: 3 } })] },
    { role: 'assistant', content: [{ type: 'text', text: '3' }] },
  ];

  expect(toUIMessages(entriesOf(history))).toEqual([
    { id: 'e2', role: 'user', parts: [{ type: 'text', text: '1 + 2?' }] },
    {
      id: 'r',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Easy.', state: 'done' },
        { type: 'tool-add', toolCallId: 'c1', state: 'output-available', input: { a: 1 }, output: { sum: 3 } },
        { type: 'step-start' },
        { type: 'text', text: '3', state: 'done' },
      ],
    },
  ]);
});

/** Adds an entry behind the others. */
const plus = (entries: readonly Entry[], body: EntryBody, parent = entries.at(-1)?.id): Entry[] => [
  ...entries,
  { id: `x${entries.length}`, parent, at: 0, run: 'r', body },
];
const open = entriesOf([
  { role: 'user', content: '1 + 2?' },
  { role: 'assistant', content: [call('c1')] },
]);

test('shows a call that waits for a decision as a request for approval, and a running call without one', () => {
  const waits = plus(open, { type: 'suspended', calls: [{ id: 'c1', reason: 'Sure?', by: 'approval' }] }, 'e2');
  const part = { type: 'tool-add', toolCallId: 'c1', input: {} };

  expect(toUIMessages(waits)[1]?.parts).toContainEqual({
    ...part,
    state: 'approval-requested',
    approval: { id: 'c1' },
  });
  expect(toUIMessages(waits, { decides: false })[1]?.parts).toContainEqual({ ...part, state: 'input-available' });
  expect(toUIMessages(open)[1]?.parts).toContainEqual({ ...part, state: 'input-available' });
});

test('marks an answer that was stopped', () => {
  const [, answer] = toUIMessages(
    entriesOf([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'Ah' }], stopped: true },
    ]),
  );

  expect(answer?.metadata).toEqual({ stopped: true });
});

test('gives a second answer of one run the id of its entry', () => {
  const said = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] }) as const;
  const entries = entriesOf([
    { role: 'user', content: 'Hi' },
    said('Hello.'),
    { role: 'user', content: 'And now?' },
    said('Bye.'),
  ]);

  expect(toUIMessages(entries).map(({ id }) => id)).toEqual(['e1', 'r', 'e3', 'e4']);
});

test('shows a summary before the answer that it interrupts, and nothing of an empty one', () => {
  const turn = entriesOf([
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [call('c1')] },
    { role: 'tool', content: [result('c1')] },
  ]);
  const summary = { type: 'summary', keep: [], shorten: [] } as const;
  const summed = plus(plus(turn, { ...summary, text: 'Sums.' }), { ...summary, text: '' });
  const done = plus(summed, {
    type: 'message',
    message: { role: 'assistant', content: [{ type: 'text', text: '3' }] },
  });

  expect(toUIMessages(done).map(({ id, role }) => [id, role])).toEqual([
    ['e1', 'user'],
    ['x3', 'assistant'],
    ['r', 'assistant'],
  ]);
  expect(toUIMessages(done)[1]?.parts).toEqual([{ type: 'data-summary', data: { text: 'Sums.' } }]);
  expect(toUIMessages(done)[2]?.parts.at(-1)).toEqual({ type: 'text', text: '3', state: 'done' });
});

test('gives each call its own result if two turns use one call id', () => {
  const entries = entriesOf([
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [call('c1')] },
    { role: 'tool', content: [result('c1', { content: 'first' })] },
    { role: 'assistant', content: [call('c1')] },
    { role: 'tool', content: [result('c1', { content: 'second' })] },
  ]);

  const outputs = toUIMessages(entries)[1]?.parts.flatMap((part) => ('output' in part ? [part.output] : []));
  expect(outputs).toEqual(['first', 'second']);
});

test('hides the text of a failed tool call', () => {
  const history: Message[] = [
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [call('c1')] },
    { role: 'tool', content: [result('c1', { isError: true, content: 'cannot read /srv' })] },
  ];

  const messages = toUIMessages(entriesOf(history));

  expect(messages[1]?.parts).toContainEqual(expect.objectContaining({ errorText: 'The tool failed.' }));
  expect(JSON.stringify(messages)).not.toContain('/srv');
});

test('shows files of the user and of the assistant as data URLs', () => {
  const history: Message[] = [
    {
      role: 'user',
      content: [
        { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' },
        { type: 'file', data: 'AQID', mediaType: 'application/pdf', filename: 'a.pdf' },
      ],
    },
    { role: 'assistant', content: [{ type: 'file', data: 'AQID', mediaType: 'image/gif' }] },
  ];

  const [user, assistant] = toUIMessages(entriesOf(history));

  expect(user?.parts).toEqual([
    { type: 'file', url: 'data:image/png;base64,AQID', mediaType: 'image/png' },
    { type: 'file', url: 'data:application/pdf;base64,AQID', mediaType: 'application/pdf', filename: 'a.pdf' },
  ]);
  expect(assistant?.parts[1]).toEqual({ type: 'file', url: 'data:image/gif;base64,AQID', mediaType: 'image/gif' });
});

test('shows the original string of invalid tool arguments', () => {
  const history: Message[] = [
    { role: 'user', content: '1 + 2?' },
    { role: 'assistant', content: [{ ...call('c1', undefined), invalidInput: '{"a":' }] },
    { role: 'tool', content: [result('c1', { isError: true })] },
  ];

  expect(toUIMessages(entriesOf(history))[1]?.parts).toContainEqual(expect.objectContaining({ input: '{"a":' }));
});
