import { Agent, MemorySessionStore } from 'keelson';
import { delays, scriptedModel } from 'keelson/testing';
import { createAgentHandler, MemoryRunLog } from 'keelson/ui';

// All web servers share a store and a run log. Here, two servers share the memory of one process.
const store = new MemorySessionStore();
const runLog = new MemoryRunLog();

function webServer() {
  const agent = new Agent({ model: scriptedModel([delays(500, 'Aye.')]), store });
  return createAgentHandler(agent, {
    protocol: 'sse',
    authorize: () => 'ada',
    session: (chatId, user) => `${user}/${chatId}`,
    runLog,
  });
}
const [one, two] = [webServer(), webServer()];

await one(
  new Request('http://localhost/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'harbour', message: 'Are you there?' }),
  }),
);
// The page is loaded again, and its request reaches the other server.
const answer = await two(new Request('http://localhost/chat/harbour/stream'));
console.log(await answer.text());
