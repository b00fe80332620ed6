import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkAddition, checkMessages } from '../../src/model/check-messages.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../src/model/message.js';

const call = (id: string): ToolCallPart => ({ type: 'tool-call', id, name: 'tool', input: {} });
const result = (id: string): ToolResultPart => ({ type: 'tool-result', id, name: 'tool', content: 'x' });
const calling = (...ids: readonly string[]): Message => ({ role: 'assistant', content: ids.map(call) });
const results = (...ids: readonly string[]): Message => ({ role: 'tool', content: ids.map(result) });
const file = { type: 'file', data: 'AQID', mediaType: 'application/pdf' } as const;
const parts = (id: string): ToolResultPart => ({
  ...result(id),
  content: [{ type: 'text', text: 'x' }],
  structured: 1,
});
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
    ['parts of unknown types of a model', [{ role: 'assistant', content: [{ type: 'video' } as never] }]],
    ['pictures and files', [{ role: 'user', content: [{ type: 'image', image: new Uint8Array(1) }, file] }]],
    ['results of text, parts and data', [calling('a', 'b'), { role: 'tool', content: [result('a'), parts('b')] }]],
  ])('finds nothing open in %s', (_title, messages) => {
    expect(checkMessages(messages)).toBe(undefined);
  });

  test.each<[string, unknown]>([
    ['a text part without text', { role: 'user', content: [{ type: 'text' }] }],
    ['a text part whose text is a number', { role: 'user', content: [{ type: 'text', text: 5 }] }],
    ['a picture without data', { role: 'user', content: [{ type: 'image' }] }],
    ['a picture of another library', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
    ['bytes that went through JSON', { role: 'user', content: [{ type: 'image', image: { 0: 1 } }] }],
    ['a file without data', { role: 'user', content: [{ type: 'file', mediaType: 'text/plain' }] }],
    ['a call of a user', { role: 'user', content: [call('a')] }],
    ['an answer that is a text', { role: 'assistant', content: 'x' }],
    ['an answer whose text is none', { role: 'assistant', content: [{ type: 'text', text: null }] }],
    ['a call without a name', { role: 'assistant', content: [{ type: 'tool-call', id: 'a', input: {} }] }],
    ['a call without an id', { role: 'assistant', content: [{ type: 'tool-call', id: '', name: 'x', input: {} }] }],
    ['system parts', { role: 'system', content: [{ type: 'text', text: 'x' }] }],
  ])('refuses %s', (_title, message) => {
    expect(() => checkMessages([user, message as Message])).toThrow(/^Message 1 .* has no valid content: it takes/);
  });

  test.each<[string, unknown]>([
    ['without content', { type: 'tool-result', id: 'a', name: 'x' }],
    ['of a number', { ...result('a'), content: 5 }],
    ['of unknown parts', { ...result('a'), content: [{ type: 'resource' }] }],
    ['that is a text part', { type: 'text', text: 'x', id: 'a' }],
    ['that is null', null],
  ])('refuses a result %s', (_title, given) => {
    expect(() => checkMessages([calling('a'), { role: 'tool', content: [given as ToolResultPart] }])).toThrow(
      'Message 1 (tool) has no valid content: it takes an array of tool results.',
    );
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
