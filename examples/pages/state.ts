import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';

// In a real application, use a folder that is kept after the process ends.
const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
const store = new FileSessionStore({ folder, ttlMs: 7 * 86_400_000 });
const agent = new Agent({ model: scriptedModel(() => 'Aye.'), store });

const session = await agent.session({ id: 'harbour' });
await session.run('Are you there?');
await agent.close();
console.log((await store.load('harbour'))?.length, 'entries are stored');
