import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { Agent, type AgentEventOf, defineLifecycle, formatRun, HookAction, KeelsonError } from 'keelson';
import { defineExtension, extensions } from 'keelson/extension';
import { says, scriptedModel } from 'keelson/testing';

const metrics: number[] = [];

const agent = new Agent({ model: scriptedModel(says('Land in sight.', { reasoning: 'A coast.' })) });

const stream = agent.stream('What do you see?');
for await (const text of stream.text) process.stdout.write(text);

const result = await stream.result;
console.log(`\n${formatRun(result)}`);

assert.equal(result.text, 'Land in sight.');
assert.equal(result.usage.totalTokens, 15);

// #region events
const shown: string[] = [];
for await (const event of agent.stream('And to port?')) {
  if (event.type === 'text-delta') shown.push(event.text);
  if (event.type === 'tool-start') shown.push(`[${event.name}]`);
}
// #endregion

assert.equal(shown.join(''), 'Land in sight.');

// #region on
const count = ({ response }: AgentEventOf<'model-end'>) => {
  metrics.push(response?.usage.totalTokens ?? 0);
};
agent.on('model-end', count);
await agent.run('And now?');
agent.off('model-end', count);
// #endregion

assert.deepEqual(metrics, [15]);

// #region leave
const long = agent.stream('Tell me everything.');
for await (const event of long) {
  if (event.type === 'text-delta') break; // aborts the run
}
const outcome = await long.result.catch((error) => error.code);
// #endregion

assert.equal(outcome, 'ERR_RUN_ABORTED');

// #region server
const server = createServer(async (_request, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (event: string, data: unknown) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  try {
    for await (const event of agent.stream('What do you see?', { signal: gone.signal })) {
      if (event.type === 'text-delta') send('text', event.text);
      if (event.type === 'tool-start') send('tool', event.name);
    }
    send('end', {});
  } catch (error) {
    send('error', error instanceof KeelsonError ? error.code : 'ERR_UNKNOWN');
  }
  response.end();
});
// #endregion

server.listen(0, '127.0.0.1');
await once(server, 'listening');
const body = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
server.close();
assert.match(body, /^(event: text\ndata: "[^"]*"\n\n)+event: end\ndata: \{\}\n\n$/);

const model = scriptedModel(() => 'The password is hunter2.');

// #region redact-extension
const redact = defineExtension({
  id: 'redact',
  onLlmOutput: (output) => output.replaceAll('hunter2', '***'),
});
const clerk = new Agent({ model, loaders: [extensions([redact])] });
for await (const text of clerk.stream('What is the password?').text) process.stdout.write(text);
// #endregion

// #region redact-lifecycle
const censor = defineLifecycle({
  name: 'censor',
  holdStream: true,
  afterModel: (response) => {
    const content = response.content.map((part) =>
      part.type === 'text' ? { ...part, text: part.text.replaceAll('hunter2', '***') } : part,
    );
    return HookAction.modify({ ...response, content });
  },
});
// #endregion

for (const held of [clerk, new Agent({ model, lifecycle: [censor] })]) {
  let streamed = '';
  for await (const text of held.stream('What is the password?').text) streamed += text;
  assert.equal(streamed, 'The password is ***.');
}
