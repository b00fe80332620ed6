import { MessageSchema } from '@ag-ui/core/schemas';
import type { Message } from 'keelson';
import { toAgUIMessages } from 'keelson/ui';
import { expect, test } from 'vitest';
import { entriesOf } from '../../support/ui/entries-of.js';

const history: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: '1 + 2?' },
  { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'add', input: { a: 1 } }] },
  { role: 'tool', content: [{ type: 'tool-result', id: 'c1', name: 'add', content: '3', structured: { sum: 3 } }] },
  { role: 'assistant', content: [{ type: 'text', text: '3' }] },
];

test('converts the messages of a session to valid messages of AG-UI', () => {
  const messages = toAgUIMessages(entriesOf(history));

  expect(messages).toMatchObject([
    { id: 'e2', role: 'user', content: '1 + 2?' },
    {
      id: 'r.t1',
      role: 'assistant',
      toolCalls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
    },
    { role: 'tool', toolCallId: 'c1', content: '{"sum":3}' },
    { id: 'r.t2', role: 'assistant', content: '3' },
  ]);
  for (const message of messages) expect(MessageSchema.safeParse(message).error).toBeUndefined();
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
});

test('hides the text of a failed tool call', () => {
  const failed = { type: 'tool-result', id: 'c1', name: 'add', content: 'cannot read /srv', isError: true } as const;

  const messages = toAgUIMessages(entriesOf([...history.slice(0, 3), { role: 'tool', content: [failed] }]));

  expect(messages.at(-1)).toMatchObject({ content: 'The tool failed.' });
});

test('converts a summary to an activity, and nothing of an empty one', () => {
  const entries = entriesOf([{ role: 'user', content: 'Hi' }]);
  const summary = { type: 'summary', keep: [], shorten: [] } as const;
  const told = { id: 's1', parent: 'e1', at: 1, body: { ...summary, text: 'Greetings.' } };
  const empty = { id: 's2', parent: 's1', at: 2, body: { ...summary, text: '' } };

  const messages = toAgUIMessages([...entries, told, empty]);

  expect(messages.slice(1)).toEqual([
    { id: 's1', role: 'activity', activityType: 'summary', content: { text: 'Greetings.' } },
  ]);
  expect(MessageSchema.safeParse(messages[1]).error).toBeUndefined();
});
