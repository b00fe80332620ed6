import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkAddition, checkMessages } from '../../src/model/check-messages.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../src/model/message.js';

const call = (id: string): ToolCallPart => ({ type: 'tool-call', id, name: 'tool', input: {} });
const result = (id: string): ToolResultPart => ({ type: 'tool-result', id, name: 'tool', content: 'x' });
const calling = (...ids: readonly string[]): Message => ({ role: 'assistant', content: ids.map(call) });
const results = (...ids: readonly string[]): Message => ({ role: 'tool', content: ids.map(result) });
const user: Message = { role: 'user', content: 'x' };
const openIds = (messages: readonly Message[]) => checkMessages(messages)?.open.map(({ id }) => id);

describe('checkMessages', () => {
  test.each<[string, readonly Message[]]>([
    ['no message', []],
    ['a text', [user]],
    ['answered calls', [user, calling('a', 'b'), results('a', 'b'), user]],
    ['results in another order', [calling('a', 'b'), results('b', 'a')]],
    ['one id in two turns', [calling('a'), results('a'), calling('a'), results('a')]],
    ['a system message in the middle', [user, { role: 'system', content: 'x' }, user]],
    ['an assistant message without parts', [user, { role: 'assistant', content: [] }]],
    [
      'a call that the provider ran',
      [{ role: 'assistant', content: [{ ...call('a'), providerExecuted: true }, result('a')] }, user],
    ],
    ['parts of unknown types', [{ role: 'user', content: [{ type: 'video' } as never] }]],
  ])('finds nothing open in %s', (_title, messages) => {
    expect(checkMessages(messages)).toBe(undefined);
  });

  test('names the open calls of the last turn, with the results that are there', () => {
    expect(checkMessages([user, calling('a', 'b', 'c'), results('b')])).toMatchObject({
      calls: [call('a'), call('b'), call('c')],
      results: [result('b')],
      open: [call('a'), call('c')],
    });
    expect(openIds([user, calling('a')])).toEqual(['a']);
    expect(openIds([calling('a'), results('a'), calling('b')])).toEqual(['b']);
  });

  test('finds exactly the gap that was cut into a good conversation', () => {
    const turn = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(), (turns, at, which) => {
        const cut = at % turns.length;
        const ids = turns[cut] as string[];
        const lost = ids[which % ids.length];
        const build = (skip: number) =>
          turns.flatMap((names, index) => {
            const kept = index === skip ? names.filter((id) => id !== lost) : names;
            return [user, calling(...names), ...(kept.length === 0 ? [] : [results(...kept)])];
          });

        expect(checkMessages(build(-1))).toBe(undefined);
        if (cut === turns.length - 1) expect(openIds(build(cut))).toEqual([lost]);
        else expect(() => checkMessages(build(cut))).toThrow(`Tool call "${lost}" has no result`);
      }),
    );
  });
});

describe('checkAddition', () => {
  test.each<Message>([
    user,
    { role: 'system', content: 'x' },
    { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
    { role: 'user', content: [{ type: 'image', image: 'https://example.com/a.png' }] },
  ])('takes a message of role $role', (message) => {
    expect(() => checkAddition(message)).not.toThrow();
  });

  test.each<[string, unknown]>([
    ['results', results('a')],
    ['calls', calling('a')],
    ['a text', 'x'],
    ['null', null],
    ['a message without content', { role: 'user' }],
    ['a text part without text', { role: 'user', content: [{ type: 'text', content: 'x' }] }],
    ['a message without role', { content: 'x' }],
  ])('refuses %s', (_title, message) => {
    expect(() => checkAddition(message as Message)).toThrow(expect.objectContaining({ code: 'ERR_MESSAGE_INVALID' }));
  });
});
