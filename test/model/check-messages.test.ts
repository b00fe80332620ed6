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
  test('begins at an index, after messages that were checked', () => {
    const known = [user, calling('a'), results('a')];

    expect(checkMessages([...known, calling('b')], 3)).toMatchObject({ index: 3, open: [call('b')] });
    expect(checkMessages([...known, user], 4)).toBeUndefined();
    expect(() => checkMessages([...known, results('a')], 3)).toThrow('Message 3 has a result for call "a"');
  });

  test.each<[string, readonly Message[]]>([
    ['no message', []],
    ['a single message', [user]],
    ['answered calls', [user, calling('a', 'b'), results('a', 'b'), user]],
    ['results in another order', [calling('a', 'b'), results('b', 'a')]],
    ['one id in two turns', [calling('a'), results('a'), calling('a'), results('a')]],
    ['a system message in the middle', [user, { role: 'system', content: 'x' }, user]],
    ['an assistant message without parts', [user, { role: 'assistant', content: [] }]],
    [
      'a call that the provider executed',
      [{ role: 'assistant', content: [{ ...call('a'), providerExecuted: true }, result('a')] }, user],
    ],
    [
      'an assistant message with a part of unknown type',
      [{ role: 'assistant', content: [{ type: 'video' } as never] }],
    ],
    ['images and files', [{ role: 'user', content: [{ type: 'image', image: new Uint8Array(1) }, file] }]],
    [
      'results with a string, parts and data',
      [calling('a', 'b'), { role: 'tool', content: [result('a'), parts('b')] }],
    ],
  ])('finds no open calls in %s', (_title, messages) => {
    expect(checkMessages(messages)).toBe(undefined);
  });

  test.each<[string, unknown]>([
    ['a text part without text', { role: 'user', content: [{ type: 'text' }] }],
    ['a text part whose text is a number', { role: 'user', content: [{ type: 'text', text: 5 }] }],
    ['an image part without data', { role: 'user', content: [{ type: 'image' }] }],
    [
      'an image part in the form of another library',
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] },
    ],
    ['bytes serialized as a JSON object', { role: 'user', content: [{ type: 'image', image: { 0: 1 } }] }],
    ['a file part without data', { role: 'user', content: [{ type: 'file', mediaType: 'text/plain' }] }],
    ['a tool call in a user message', { role: 'user', content: [call('a')] }],
    ['an assistant message with a string as content', { role: 'assistant', content: 'x' }],
    ['a text part whose text is null', { role: 'assistant', content: [{ type: 'text', text: null }] }],
    ['a tool call without a name', { role: 'assistant', content: [{ type: 'tool-call', id: 'a', input: {} }] }],
    [
      'a tool call without an id',
      { role: 'assistant', content: [{ type: 'tool-call', id: '', name: 'x', input: {} }] },
    ],
    ['a system message with parts', { role: 'system', content: [{ type: 'text', text: 'x' }] }],
  ])('refuses %s', (_title, message) => {
    expect(() => checkMessages([user, message as Message])).toThrow(/^Message 1 .*: `content` must be /);
  });

  test.each<[string, unknown]>([
    ['without content', { type: 'tool-result', id: 'a', name: 'x' }],
    ['whose content is a number', { ...result('a'), content: 5 }],
    ['with parts of unknown types', { ...result('a'), content: [{ type: 'resource' }] }],
    ['that is a text part', { type: 'text', text: 'x', id: 'a' }],
    ['that is null', null],
  ])('refuses a result %s', (_title, given) => {
    expect(() => checkMessages([calling('a'), { role: 'tool', content: [given as ToolResultPart] }])).toThrow(
      'Message 1 (tool): `content` must be an array of tool results.',
    );
  });

  test('returns the open calls of the last turn and the existing results', () => {
    expect(checkMessages([user, calling('a', 'b', 'c'), results('b')])).toMatchObject({
      calls: [call('a'), call('b'), call('c')],
      results: [result('b')],
      open: [call('a'), call('c')],
    });
    expect(openIds([user, calling('a')])).toEqual(['a']);
    expect(openIds([calling('a'), results('a'), calling('b')])).toEqual(['b']);
  });

  test('finds the one result removed from a valid conversation', () => {
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
  ])('accepts a message of role $role', (message) => {
    expect(() => checkAddition(message)).not.toThrow();
  });

  test.each<[string, unknown]>([
    ['tool results', results('a')],
    ['tool calls', calling('a')],
    ['a string', 'x'],
    ['null', null],
    ['a message without content', { role: 'user' }],
    ['a text part without text', { role: 'user', content: [{ type: 'text', content: 'x' }] }],
    ['a message without role', { content: 'x' }],
  ])('refuses %s', (_title, message) => {
    expect(() => checkAddition(message as Message)).toThrow(expect.objectContaining({ code: 'ERR_MESSAGE_INVALID' }));
  });
});
