import { type Message, textOf, toolCallsOf } from 'keelson';
import { describe, expect, test } from 'vitest';

const call = { type: 'tool-call', id: 'a', name: 'x', input: {} } as const;
const text = (value: string) => ({ type: 'text', text: value }) as const;
const image = { type: 'image', image: 'x' } as const;

describe('textOf', () => {
  test.each<[string, Message, string]>([
    ['a string', { role: 'user', content: 'hi' }, 'hi'],
    ['text parts, joined', { role: 'user', content: [text('a'), image, text('b')] }, 'ab'],
    [
      'an assistant message without its reasoning',
      { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, text('a'), call] },
      'a',
    ],
    ['an empty array of parts', { role: 'assistant', content: [] }, ''],
    [
      'tool results',
      {
        role: 'tool',
        content: [
          { type: 'tool-result', id: 'a', name: 'x', content: '1' },
          { type: 'tool-result', id: 'b', name: 'x', content: [text('2'), image] },
        ],
      },
      '12',
    ],
    [
      'an assistant message without results of the provider',
      { role: 'assistant', content: [{ type: 'tool-result', id: 'a', name: 'x', content: '1' }, text('a')] },
      'a',
    ],
  ])('reads %s', (_title, message, expected) => {
    expect(textOf(message)).toBe(expected);
  });
});

describe('toolCallsOf', () => {
  test('returns the calls that the provider did not execute, in order', () => {
    const content = [text('x'), call, { ...call, id: 'b', providerExecuted: true }, { ...call, id: 'c' }];

    expect(toolCallsOf({ role: 'assistant', content })).toEqual([call, { ...call, id: 'c' }]);
  });

  test('returns no calls for messages of other roles', () => {
    expect(toolCallsOf({ role: 'user', content: [call as never] })).toEqual([]);
    expect(toolCallsOf({ role: 'user', content: 'x' })).toEqual([]);
    expect(toolCallsOf({ role: 'tool', content: [] })).toEqual([]);
  });
});

test('textOf separates texts around a tool that the provider ran by a blank line', () => {
  const text = (said: string) => ({ type: 'text', text: said }) as const;
  const ran = { type: 'tool-call', id: '1', name: 'web_search', input: {}, providerExecuted: true } as const;
  const found = { type: 'tool-result', id: '1', name: 'web_search', content: 'A page.' } as const;

  expect(textOf({ role: 'assistant', content: [text('I search.'), ran, found, text('It is '), text('noon.')] })).toBe(
    'I search.\n\nIt is noon.',
  );
  expect(textOf({ role: 'assistant', content: [ran, found, text('Noon.')] })).toBe('Noon.');
});

test('textOf omits commentary, unless the message has no other text', () => {
  const remark = { type: 'text', text: 'I look it up.', commentary: true } as const;

  expect(textOf({ role: 'assistant', content: [remark, { type: 'text', text: 'Noon.' }] })).toBe('Noon.');
  expect(textOf({ role: 'assistant', content: [remark] })).toBe('I look it up.');
});
