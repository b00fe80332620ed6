import { expect, test } from 'vitest';
import { fromSSEBody } from '../../../src/ui/sse/from-sse-body.js';

test('reads a text message', () => {
  expect(fromSSEBody({ id: 'chat', message: 'Hi', messageId: 'm1' })).toEqual({
    type: 'message',
    chatId: 'chat',
    id: 'm1',
    message: { role: 'user', content: 'Hi' },
  });
});

test('reads the parts of a message', () => {
  const message = [{ type: 'file', url: 'data:image/png;base64,AQID', mediaType: 'image/png' }];

  expect(fromSSEBody({ id: 'chat', message })).toMatchObject({
    message: { content: [{ type: 'image', image: 'data:image/png;base64,AQID' }] },
  });
});

test('reads decisions', () => {
  const decisions = { c1: 'approve', c2: 'deny', c3: { deny: 'No.' }, c4: { approve: { euro: 30 } } };

  expect(fromSSEBody({ id: 'chat', decisions })).toEqual({ type: 'decisions', chatId: 'chat', decisions });
});

test.each([
  ['null', null, /the body/],
  ['a number as id', { id: 1, message: 'Hi' }, /`id`/],
  ['no message', { id: 'chat' }, /`message`/],
  ['a number as the id of the message', { id: 'chat', message: 'Hi', messageId: 1 }, /`messageId`/],
  ['a message and decisions', { id: 'chat', message: 'Hi', decisions: { c: 'deny' } }, /absent/],
  ['no decision', { id: 'chat', decisions: {} }, /at least one/],
  ['an unknown decision', { id: 'chat', decisions: { c: 'yes' } }, /the decision on "c"/],
])('refuses %s', (_title, body, message) => {
  expect(() => fromSSEBody(body)).toThrow(expect.objectContaining({ code: 'ERR_UI_BODY_INVALID' }));
  expect(() => fromSSEBody(body)).toThrow(message);
});
