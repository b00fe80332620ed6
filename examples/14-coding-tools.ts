// An agent with the tool names of Claude Code runs a published guard of that program unchanged.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, formatRun } from 'keelson';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { codingTools } from './coding/tools.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-coding-')));
process.env.HOME = join(folder, 'home');
const workspaceDir = join(folder, 'project');
mkdirSync(join(workspaceDir, '.claude'), { recursive: true });
writeFileSync(join(workspaceDir, 'main.js'), "console.log('hello');\n");

// The guard reads `tool_input.file_path`, as hooks of Claude Code do.
const guard = `
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_input: input } = JSON.parse(text);
if (!/[.]env$/.test(input.file_path)) process.exit(0);
console.error('Secrets are not written by an agent.');
process.exit(2);
`;
writeFileSync(join(workspaceDir, 'guard.mjs'), guard);
const hook = { type: 'command', command: 'node "$CLAUDE_PROJECT_DIR/guard.mjs"', timeout: 10 };
const settings = { hooks: { PreToolUse: [{ matcher: 'Write|Edit', hooks: [hook] }] } };
writeFileSync(join(workspaceDir, '.claude', 'settings.json'), JSON.stringify(settings));

const model = scriptedModel([
  calls('Write', { file_path: '.env', content: 'TOKEN=1' }),
  calls('Edit', { file_path: 'main.js', old_string: 'hello', new_string: 'ahoy' }),
  calls('Bash', { command: 'node main.js' }),
  says('The program says ahoy. I did not write the secret.'),
]);

// #region agent
const tools = codingTools(workspaceDir);
const hooks = shellHooks({ workspaceDir, discover: ['claude'], toolNames: { claude: {} }, approve: () => true });
const agent = new Agent({ model, tools, loaders: [hooks] });
const result = await agent.run('Let the program say ahoy, and keep a token in .env.');
// #endregion

console.log(formatRun(result));
assert.match(readFileSync(join(workspaceDir, 'main.js'), 'utf8'), /ahoy/);
assert.throws(() => readFileSync(join(workspaceDir, '.env')), { code: 'ENOENT' });
assert.match(JSON.stringify(result.messages), /Secrets are not written by an agent/);
assert.match(JSON.stringify(result.messages), /ahoy\\nexit code 0/);
assert.deepEqual(hooks.status().diagnostics, []);
await agent.close();
rmSync(folder, { recursive: true });
