import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, defineTool } from 'keelson';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

// Creates a project with a settings file of Claude Code.
const workspaceDir = mkdtempSync(join(tmpdir(), 'hooks-'));
mkdirSync(join(workspaceDir, '.claude'));
const command = `grep -q 'rm -rf' && { echo 'Not in this project.' >&2; exit 2; } || exit 0`;
const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }] };
writeFileSync(join(workspaceDir, '.claude', 'settings.json'), JSON.stringify({ hooks }));

const shell = defineTool({
  name: 'shell',
  description: 'Runs a command.',
  input: z.object({ command: z.string() }),
  execute: ({ command }) => `ran ${command}`,
});
const loader = shellHooks({
  workspaceDir,
  discover: ['claude'],
  toolNames: { claude: { shell: 'Bash' } },
  // Called before a hook runs for the first time. In a terminal: `terminalApprover()` from 'keelson/trust'.
  approve: ({ argv }) => console.log(argv.join(' ')) === undefined,
});

const model = scriptedModel([calls('shell', { command: 'rm -rf /' }), says('I may not do that.')]);
const agent = new Agent({ model, tools: [shell], loaders: [loader] });
const { messages } = await agent.run('Clean up.');
console.log(messages.find(({ role }) => role === 'tool')?.content);
await agent.close();
