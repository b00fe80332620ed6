import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, defineTool } from 'keelson';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { terminalApprover } from 'keelson/trust';
import { z } from 'zod';

const workspaceDir = mkdtempSync(join(tmpdir(), 'keelson-snippet-'));
const model = scriptedModel([calls('look', { at: 'quay' }), says('Nothing there.'), says('Still nothing.')]);
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  execute: () => 'nothing',
});

const hooks = shellHooks({
  workspaceDir,
  hooks: {
    timeout: 5_000,
    before_tool: [{ name: 'audit', command: 'sh', args: ['-c', 'cat >> audit.jsonl'] }],
  },
});
const agent = new Agent({ model, tools: [look], loaders: [hooks] });
await agent.run('What is at the quay?');

const [line] = readFileSync(join(workspaceDir, 'audit.jsonl'), 'utf8').split('\n');
assert.deepEqual(JSON.parse(line ?? '').data.args, { at: 'quay' });

// #region runner
const outcome = await hooks.runner.run('before_tool', { tool_name: 'look', args: { at: 'pier' } });
if (outcome.cancelled) console.error(`${outcome.cancelledBy}: ${outcome.reason}`);
// #endregion

assert.equal(outcome.shouldContinue, true);
assert.deepEqual(
  outcome.outcomes.map(({ hook, status }) => [hook, status]),
  [['audit', 'completed']],
);

// #region registry
const branch = { event: 'before_agent', name: 'branch', command: 'git', args: ['branch', '--show-current'] } as const;
hooks.registry.register({ ...branch, dialect: 'claude' });
hooks.registry.unregister('audit');
// #endregion

assert.deepEqual(
  hooks.status().hooks.map(({ name }) => name),
  ['branch'],
);
await agent.close();

// #region environment
shellHooks({ inheritEnv: { include: ['DATADOG_API_KEY'], exclude: ['NPM_TOKEN', 'INTERNAL_*'] } });
// #endregion

// #region arguments
const renaming = shellHooks({
  workspaceDir,
  discover: ['claude'],
  toolNames: { claude: { write: { name: 'Write', args: { path: 'file_path', text: 'content' } } } },
});
// #endregion
assert.deepEqual(renaming.status().hooks, []);

// #region transcript
const looping = shellHooks({ workspaceDir, discover: ['claude'], transcript: 'claude', approve: terminalApprover() });
// #endregion
assert.deepEqual(looping.status().hooks, []);

// #region discover
const found = shellHooks({
  workspaceDir,
  discover: ['native', 'claude'],
  toolNames: { claude: { run_command: 'Bash', write_file: 'Write' } },
  approve: terminalApprover(),
  onDiagnostic: ({ level, message }) => console.error(`${level}: ${message}`),
});
// #endregion

assert.deepEqual(found.status().hooks, []);
rmSync(workspaceDir, { recursive: true });
