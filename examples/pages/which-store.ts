import { Agent, MemorySessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';

// Only this choice differs between stores.
const folder = process.env.SESSIONS_FOLDER;
const store = folder === undefined ? new MemorySessionStore() : new FileSessionStore({ folder });

const agent = new Agent({ model: scriptedModel('Aye.'), store });
const session = await agent.session({ id: 'harbour' });
await session.run('Are you there?');
await agent.close();
console.log((await store.load('harbour'))?.length, 'entries are stored');
