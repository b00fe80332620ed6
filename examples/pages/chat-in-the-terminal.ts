import { createInterface } from 'node:readline/promises';
import { Agent, textOf } from 'keelson';
import { scriptedModel } from 'keelson/testing';

// This model needs no key: it repeats the last message.
const model = scriptedModel(({ messages }) => `You said: ${messages.slice(-1).map(textOf)}`);

const agent = new Agent({ model, instructions: 'Answer in one sentence.' });
const session = await agent.session();
const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });

terminal.prompt();
for await (const line of terminal) {
  for await (const text of session.stream(line).text) process.stdout.write(text);
  process.stdout.write('\n');
  terminal.prompt();
}
await agent.close();
