import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';

const users = new Map([['Bearer key-of-ada', 'ada']]);
const agent = new Agent({ model: scriptedModel(() => 'The harbour opens at six.') });

const handler = createAgentHandler(agent, {
  protocol: 'sse',
  authorize: (request) => users.get(request.headers.get('authorization') ?? ''),
  session: (chatId, user) => `${user}/${chatId}`,
});

const request = new Request('http://localhost:3000/chat', {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer key-of-ada' },
  body: JSON.stringify({ id: 'harbour', message: 'When does the harbour open?' }),
});
const response = await handler(request);
console.log(await response.text());
