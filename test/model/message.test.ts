import { describe, expect, test } from 'vitest';
import { type Message, textOf, toolCallsOf } from '../../src/model/message.js';

const call = { type: 'tool-call', id: 'a', name: 'x', input: {} } as const;
const text = (value: string) => ({ type: 'text', text: value }) as const;
const image = { type: 'image', image: 'x' } as const;

describe('textOf', () => {
  test.each<[string, Message, string]>([
    ['a text', { role: 'user', content: 'hi' }, 'hi'],
    ['parts, joined', { role: 'user', content: [text('a'), image, text('b')] }, 'ab'],
    [
      'an answer, without reasoning',
      { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, text('a'), call] },
      'a',
    ],
    ['no parts', { role: 'assistant', content: [] }, ''],
    [
      'results',
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
      'an answer without what the provider found',
      { role: 'assistant', content: [{ type: 'tool-result', id: 'a', name: 'x', content: '1' }, text('a')] },
      'a',
    ],
  ])('reads %s', (_title, message, expected) => {
    expect(textOf(message)).toBe(expected);
  });
});

describe('toolCallsOf', () => {
  test('gives the calls that are this side’s to run, in order', () => {
    const content = [text('x'), call, { ...call, id: 'b', providerExecuted: true }, { ...call, id: 'c' }];

    expect(toolCallsOf({ role: 'assistant', content })).toEqual([call, { ...call, id: 'c' }]);
  });

  test('gives none for what another role says', () => {
    expect(toolCallsOf({ role: 'user', content: [call as never] })).toEqual([]);
    expect(toolCallsOf({ role: 'user', content: 'x' })).toEqual([]);
    expect(toolCallsOf({ role: 'tool', content: [] })).toEqual([]);
  });
});
