import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Agent, type AgentLifecycle, textOf } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import {
  createAgentHandler,
  fromUIMessages,
  type PageInput,
  toNodeListener,
  toUIMessages,
  UIRequestError,
  uiMessageResponse,
} from 'keelson/ui';

const model = scriptedModel(({ messages }) => `You said: ${messages.slice(-1).map(textOf)}`);
const agent = new Agent({ model });

// #region node
const handler = createAgentHandler(agent, { authorize: 'none', session: (chatId) => chatId });
const server = createServer(toNodeListener(handler)).listen(3000);
// #endregion
server.close();

interface User {
  readonly id: string;
  readonly team: string;
}
const readUser = async (_request: Request): Promise<User | undefined> => ({ id: 'ada', team: 'harbour' });

interface Desk {
  readonly team: string;
}
const desk = new Agent<Desk>({ model });

// #region options
const deskHandler = createAgentHandler(desk, {
  authorize: (request) => readUser(request),
  session: (chatId, user) => ({ id: `${user.id}/${chatId}`, owner: user.id }),
  context: (user) => ({ team: user.team }),
  origins: ['https://app.example.com'],
  maxBodyBytes: 1_000_000,
});
// #endregion
assert.equal((await deskHandler(new Request('http://localhost/chat/history?id=1'))).status, 200);

// #region page-input
interface Caller {
  readonly user: string;
  readonly shown: PageInput['context'];
}
const tellPage: AgentLifecycle<Caller> = {
  beforeModel: (messages, { context }) => [
    ...messages,
    { role: 'user', content: `The page shows: ${JSON.stringify(context.shown)}` },
  ],
};
const copilot = createAgentHandler(new Agent<Caller>({ model, lifecycle: [tellPage] }), {
  protocol: 'ag-ui',
  authorize: (request) => readUser(request),
  session: (chatId, user) => `${user.id}/${chatId}`,
  context: (user, _request, page) => ({ user: user.id, shown: page.context }),
});
// #endregion
const run = {
  threadId: '1',
  runId: '1',
  messages: [{ id: 'a', role: 'user', content: 'Hello' }],
  context: [{ description: 'open', value: 'letters' }],
};
const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(run) };
assert.equal((await copilot(new Request('http://localhost/chat', asked))).status, 200);

// #region may-decide
const reviewed = createAgentHandler(agent, {
  authorize: (request) => readUser(request),
  session: (chatId, user) => (user.team === 'editors' || chatId.startsWith(`${user.id}-`) ? chatId : undefined),
  mayDecide: (user) => user.team === 'editors',
});
// #endregion
const decided = JSON.stringify({ id: 'ada-1', decisions: { answer: 'approve' } });
const headers = { 'content-type': 'application/json' };
const decision = new Request('http://localhost/chat/decide', { method: 'POST', headers, body: decided });
assert.equal((await reviewed(decision)).status, 403);

// #region own-route
async function post(request: Request): Promise<Response> {
  try {
    const body = fromUIMessages(await request.json());
    const session = await agent.session({ id: body.chatId });
    const isDecision = body.type === 'decisions';
    const stream = isDecision
      ? session.stream('', { resume: body.decisions })
      : session.stream(body.message, { id: body.id });
    const close = () => session.close();
    stream.result.then(close, close);
    return uiMessageResponse(stream, { messageId: isDecision ? body.id : undefined });
  } catch (error) {
    // `useChat` shows the body as it is.
    if (error instanceof UIRequestError) return new Response(error.message, { status: error.status });
    throw error;
  }
}
// #endregion

const body = { id: '1', messages: [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] };
const init = { method: 'POST', body: JSON.stringify(body) };
assert.match(await (await post(new Request('http://localhost/', init))).text(), /Hello/);
assert.equal((await post(new Request('http://localhost/', { method: 'POST', body: '[]' }))).status, 400);

// #region undo
async function undo(chatId: string, messageId: string): Promise<void> {
  await using session = await agent.session({ id: chatId });
  await session.allMessages();
  const message = session.entries.find(({ id }) => id === messageId);
  if (message !== undefined) await session.branch(message.parent ?? null);
}
// #endregion

// #region history
await using session = await agent.session({ id: '1' });
const messages = toUIMessages(session.entries);
// #endregion
assert.equal(messages.length, 2);
await undo('1', 'a');
assert.deepEqual(await (await agent.session({ id: '1' })).allMessages(), []);
