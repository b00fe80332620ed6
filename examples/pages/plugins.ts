import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';

// A plugin is a module. A configuration file lists the plugins to load.
const folder = mkdtempSync(join(tmpdir(), 'plugins-'));
const plugin = `export default {
  name: 'guard',
  hooks: { beforeToolExecute: (name, input) => (name === 'erase' ? null : { name, input }) },
  tools: [{
    name: 'erase', description: 'Erases a file.', inputSchema: { type: 'object' }, execute: () => ({ content: 'gone' }),
  }],
};`;
writeFileSync(join(folder, 'guard.mjs'), plugin);
writeFileSync(join(folder, 'plugins.json'), JSON.stringify({ plugins: [{ path: './guard.mjs' }] }));

const model = scriptedModel([calls('erase'), says('I may not erase it.')]);
const agent = new Agent({ model, loaders: [plugins({ config: join(folder, 'plugins.json') })] });
const { text } = await agent.run('Erase it.');
console.log(text);
await agent.close();
