import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { redact } from './redact.js';

// This model needs no key. For a real one, take `openai('gpt-5-mini')` from `keelson/openai`.
const model = scriptedModel(['The password of the harbour is hunter2.']);

const agent = new Agent({ model, lifecycle: [redact(['hunter2'])] });
for await (const text of agent.stream('What is the password?').text) process.stdout.write(text);
process.stdout.write('\n');
await agent.close();
