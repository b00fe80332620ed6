import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { shellHooks } from 'keelson/shell-hooks';
import { scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';

// Creates a workspace with a hook.
const folder = mkdtempSync(join(tmpdir(), 'trust-'));
const workspaceDir = join(folder, 'work');
mkdirSync(join(workspaceDir, '.keelson'), { recursive: true });
const hooks = { before_agent: [{ name: 'stamp', command: '/bin/sh', args: ['-c', 'echo {}'] }] };
writeFileSync(join(workspaceDir, '.keelson', 'hooks.json'), JSON.stringify({ hooks }));

const gate = createTrustGate({
  workspaceDir,
  stateDir: join(folder, 'state'),
  // Called once for each item that is not approved yet. In a terminal: `terminalApprover()`.
  approve({ why, argv }) {
    console.log(why, argv);
    return true;
  },
});
const loader = shellHooks({ workspaceDir, gate, discover: ['native'] });
const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [loader] });
await agent.run('Are you there?');
await agent.run('Still there?');
await agent.close();
console.log((await loader.approvals()).length, 'approval is stored');
