import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { loadRuntime } from 'keelson/runtime';
import { scriptedModel } from 'keelson/testing';
import { terminalApprover } from 'keelson/trust';

const runtime = await loadRuntime({
  appName: 'my-agent',
  cwd: process.cwd(),
  userDir: mkdtempSync(join(tmpdir(), 'my-agent-')),
  approve: terminalApprover(),
});
const agent = new Agent({ model: scriptedModel(() => 'At 14:20.'), ...runtime.agentOptions() });
const { text } = await agent.run('When is high water?');
console.log(text, runtime.status());
await agent.close();
await runtime.close();
