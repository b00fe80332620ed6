import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { manifests } from 'keelson/manifest';
import { scriptedModel } from 'keelson/testing';

// An extension package is a folder with a manifest. This one has a skill.
const userDir = mkdtempSync(join(tmpdir(), 'packages-'));
const packageFolder = join(userDir, 'extensions', 'harbour');
mkdirSync(packageFolder, { recursive: true });
const skill = { name: 'arrival', description: 'Plans an arrival.', prompt: 'Plan the arrival of {{ship}}.' };
const manifest = {
  name: 'harbour',
  version: '1.0.0',
  description: 'Knows the harbour.',
  skills: [{ ...skill, parameters: [{ name: 'ship', required: true }] }],
};
writeFileSync(join(packageFolder, 'manifest.json'), JSON.stringify(manifest));

const packages = manifests({ appName: 'harbour-app', workspaceDir: mkdtempSync(join(tmpdir(), 'work-')), userDir });
const agent = new Agent({ model: scriptedModel(() => 'At the north quay.'), loaders: [packages] });
await agent.ready();
const { text } = await agent.run(await packages.skills.invoke('arrival', { ship: 'Batavia' }));
console.log(text, packages.status().extensions);
await agent.close();
