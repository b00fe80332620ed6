import { BODY, type ForgedRequest, hello, json } from './forged-request.js';

/** Returns requests whose body is not of the expected form. */
export function malformed(): ForgedRequest[] {
  const bodies: readonly (readonly [title: string, body: unknown])[] = [
    ['null', null],
    ['a number', 1],
    ['an array', []],
    ['an empty object', {}],
    ['a number as chat id', { id: 1, messages: [hello] }],
    ['an empty chat id', { id: '', messages: [hello] }],
    ['an object as chat id', { id: { $gt: '' }, messages: [hello] }],
    ['no messages', { id: 'chat' }],
    ['messages in an object', { id: 'chat', messages: { 0: hello, length: 1 } }],
    ['no message', { id: 'chat', messages: [] }],
    ['null as message', { id: 'chat', messages: [null] }],
    ['a message without parts', { id: 'chat', messages: [{ id: 'x', role: 'user' }] }],
    ['content instead of parts', { id: 'chat', messages: [{ id: 'x', role: 'user', content: 'Hi' }] }],
    ['a message with empty parts', { id: 'chat', messages: [{ ...hello, parts: [] }] }],
    ['a system message', { id: 'chat', messages: [{ ...hello, role: 'system' }] }],
    ['a tool message', { id: 'chat', messages: [{ ...hello, role: 'tool' }] }],
    ['a message id that is a number', { id: 'chat', messages: [{ ...hello, id: 7 }] }],
    ['a text that is an object', { id: 'chat', messages: [{ ...hello, parts: [{ type: 'text', text: {} }] }] }],
    ['a part without a type', { id: 'chat', messages: [{ ...hello, parts: [{ text: 'Hi' }] }] }],
    ['reasoning of the user', { id: 'chat', messages: [{ ...hello, parts: [{ type: 'reasoning', text: 'Hi' }] }] }],
    [
      'a file of an internal address',
      {
        id: 'chat',
        messages: [{ ...hello, parts: [{ type: 'file', url: 'http://169.254.169.254/', mediaType: 'image/png' }] }],
      },
    ],
    [
      'a file of the disk',
      {
        id: 'chat',
        messages: [{ ...hello, parts: [{ type: 'file', url: 'file:///etc/passwd', mediaType: 'text/plain' }] }],
      },
    ],
    [
      'a file without a media type',
      { id: 'chat', messages: [{ ...hello, parts: [{ type: 'file', url: 'data:,Hi' }] }] },
    ],
    ['an unknown trigger', { id: 'chat', messages: [hello], trigger: 'delete-everything' }],
  ];
  const texts: readonly (readonly [title: string, body: string])[] = [
    ['an empty body', ''],
    ['a body that is cut off', '{"id":"chat","messages":[{"id"'],
    ['the key __proto__', '{"id":"chat","__proto__":{"isAdmin":true},"messages":[]}'],
    ['the key __proto__ in a part', '{"id":"chat","messages":[{"id":"x","role":"user","parts":[{"__proto__":{}}]}]}'],
    ['the key __proto__ in decisions', '{"id":"chat","messages":[],"decisions":{"__proto__":"approve"}}'],
    ['a body that is nested too deeply', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['the key constructor.prototype', '{"id":"chat","constructor":{"prototype":{"isAdmin":true}},"messages":[]}'],
  ];
  return [
    ...bodies.map(([title, body]) => ({ title, body, status: 400, code: BODY })),
    ...texts.map(([title, body]) => ({ title, init: json(body), status: 400, code: BODY })),
  ];
}
