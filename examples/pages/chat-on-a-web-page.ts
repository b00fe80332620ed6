import { Agent, textOf } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';

// This model needs no key: it repeats the last message.
const model = scriptedModel(({ messages }) => `You said: ${messages.slice(-1).map(textOf)}`);

const handler = createAgentHandler(new Agent({ model }), {
  authorize: 'none',
  session: (chatId) => chatId,
});

// A page with `useChat` sends this request.
const request = new Request('http://localhost:3000/api/chat', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'chat-1',
    messages: [{ id: 'message-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  }),
});
const response = await handler(request);
console.log(await response.text());
