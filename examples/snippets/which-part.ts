// The code in docs/which-part.md and docs/skills.md.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, defineTool, type LifecycleLoader } from 'keelson';
import { manifests } from 'keelson/manifest';
import { mcpServers } from 'keelson/mcp';
import { plugins } from 'keelson/plugins';
import { shellHooks } from 'keelson/shell-hooks';
import { loadSkills, SkillRegistry, skillLifecycle } from 'keelson/skills';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'keelson-parts-'));
// A user's own parts are read from the home folder. This snippet uses a temporary one.
process.env.HOME = join(folder, 'home');
const workspaceDir = join(folder, 'work');
mkdirSync(workspaceDir);
mkdirSync(process.env.HOME);
const model = scriptedModel(() => says('The secret is hunter2.'));
const approve = () => true;

{
  // #region package
  const packages = manifests({ appName: 'harbour', workspaceDir, approve });
  const agent = new Agent({ model, loaders: [packages] });
  // #endregion
  await agent.ready();
  assert.deepEqual(packages.extensions(), []);
  await agent.close();
}
{
  writeFileSync(
    join(workspaceDir, 'redact.mjs'),
    "export default { name: 'redact', hooks: { beforeMessage: (message) => message.replaceAll('hunter2', '***') } };",
  );
  writeFileSync(join(workspaceDir, 'harbour.plugins.json'), '{ "plugins": [{ "path": "./redact.mjs" }] }');
  const gate = createTrustGate({ appName: 'harbour', workspaceDir, approve });
  // #region plugins
  const agent = new Agent({ model, loaders: [plugins({ appName: 'harbour', workspaceDir, gate })] });
  // #endregion
  const { messages } = await agent.run('Is it hunter2?');
  assert.equal(messages[0]?.content, 'Is it ***?');
  await agent.close();
}
{
  const remove = defineTool({ name: 'remove', description: 'Removes.', input: z.object({}), execute: () => 'removed' });
  const model = scriptedModel([calls('remove'), says('It is kept.')]);
  // #region hook
  const guard = { name: 'guard', matcher: 'remove', command: 'sh', args: ['-c', 'echo "Not here." >&2; exit 2'] };
  const hooks = shellHooks({ workspaceDir, hooks: { before_tool: [{ ...guard, exitCodes: true }] } });
  const agent = new Agent({ model, tools: [remove], loaders: [hooks] });
  // #endregion
  const { messages } = await agent.run('Remove it.');
  assert.match(JSON.stringify(messages[2]), /Not here\./);
  await agent.close();
}
{
  const skillFolder = join(workspaceDir, '.harbour/skills');
  mkdirSync(join(skillFolder, 'berth'), { recursive: true });
  writeFileSync(
    join(skillFolder, 'berth/SKILL.md'),
    '---\nname: berth\ndescription: Finds a berth.\n---\nChoose the first berth that is deep enough.\n',
  );
  const model = scriptedModel([calls('skill', { name: 'berth' }), says('Berth 3.')]);
  const gate = createTrustGate({ appName: 'harbour', workspaceDir, approve });
  // #region skills
  const registry = new SkillRegistry();
  const roots = [{ scope: 'workspace', folder: skillFolder }] as const;
  const { entries, diagnostics } = await loadSkills({ gate, workspaceDir, roots });
  registry.replace(entries);
  const agent = new Agent({ model, lifecycle: [skillLifecycle(registry)] });
  // #endregion
  assert.deepEqual(diagnostics, []);
  const { messages } = await agent.run('Where do we moor?');
  assert.match(JSON.stringify(messages[2]), /deep enough/);
  await agent.close();
}
{
  // #region mcp
  const server = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] };
  const agent = new Agent({ model, loaders: [mcpServers({ servers: { files: server } })] });
  // #endregion
  await agent.close();
}
{
  const file = join(folder, 'words.json');
  writeFileSync(file, '["hunter2"]');
  // #region loader
  const secrets: LifecycleLoader = {
    name: 'secrets',
    load(host) {
      const words: string[] = JSON.parse(readFileSync(file, 'utf8'));
      const hide = (text: string) => words.reduce((rest, word) => rest.replaceAll(word, '***'), text);
      host.use({ name: 'redact', afterAgent: hide });
    },
  };
  const agent = new Agent({ model, loaders: [secrets] });
  // #endregion
  assert.equal((await agent.run('Well?')).text, 'The secret is ***.');
  await agent.close();
}
rmSync(folder, { recursive: true });
