// A shell hook of the workspace guards deletions. The hook runs only after a person has approved it.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, defineTool } from 'keelson';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import type { Approver } from 'keelson/trust';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'keelson-guard-'));
// Approvals are stored in the home directory. This example uses a temporary one.
process.env.HOME = join(folder, 'home');
const workspaceDir = join(folder, 'project');
mkdirSync(join(workspaceDir, '.keelson'), { recursive: true });

// #region hook
const guard = `
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { data } = JSON.parse(text);
const isLog = /^logs\\/[\\w-]+\\.txt$/.test(data.args.path);
console.log(JSON.stringify(isLog ? {} : { continue: false, reason: 'Only logs may be deleted.' }));
`;
const hooks = {
  before_tool: [{ name: 'guard', command: 'node', args: ['guard.mjs'], matcher: 'delete_file', onFailure: 'block' }],
};
// #endregion
writeFileSync(join(workspaceDir, 'guard.mjs'), guard);
writeFileSync(join(workspaceDir, '.keelson', 'hooks.json'), JSON.stringify({ hooks }));

const deleted: string[] = [];
const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Deletes a file.',
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `deleted ${deleted.push(path)} files`,
});

// #region agent
const approve: Approver = ({ why, argv, scripts }) => {
  console.log(`${why}: ${argv.join(' ')}`, scripts);
  return true; // In a terminal: `terminalApprover()`, which asks, and treats Enter as no.
};
const loader = shellHooks({ workspaceDir, discover: ['native'], approve });
const model = scriptedModel([
  calls('delete_file', { path: 'main.ts' }),
  calls('delete_file', { path: 'logs/old.txt' }),
  says('The old log is gone. The source stays.'),
]);
const agent = new Agent({ model, tools: [deleteFile], loaders: [loader] });
const { text } = await agent.run('Clean up.');
// #endregion

console.log(text);
assert.deepEqual(deleted, ['logs/old.txt']);
assert.equal((await loader.approvals()).length, 1);
rmSync(folder, { recursive: true });
