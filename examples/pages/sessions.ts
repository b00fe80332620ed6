import { Agent, MemorySessionStore } from 'keelson';
import { scriptedModel } from 'keelson/testing';

const store = new MemorySessionStore();
const model = scriptedModel(['In the harbour.', 'To sea.']);
const agent = new Agent({ model, store, instructions: 'You are a pilot.' });

const session = await agent.session({ id: 'harbour' });
await session.run('Where are we?');
const { text } = await session.run('And where do we go?');
console.log(text, session.messages.length);
await agent.close();
