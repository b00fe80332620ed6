import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import type { RuntimeOptions } from 'keelson/runtime';
import { scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { linesOf, manifest } from '../support/manifest/place.js';
import { raw, readLog } from '../support/mcp/lab.js';
import { script, write } from '../support/process/scratch.js';
import { ground } from '../support/runtime/ground.js';

test('`gate` is used instead of `approve`, and excludes it and `limits`', async () => {
  const { load, cwd, home } = ground();
  const asked: string[] = [];
  const approve = ({ item }: { item: { name: string } }) => asked.push(item.name) > 0;
  const gate = createTrustGate({ workspaceDir: cwd, stateDir: join(home, 'state'), approve });

  const runtime = await load({ gate });

  expect(runtime.gate).toBe(gate);
  expect(asked).toContain('tell');
  expect(runtime.mcp.status()).toMatchObject([{ name: 'tell', state: 'connected' }]);
  await expect(load({ gate, approve: () => true })).rejects.toMatchObject({ option: 'approve' });
  await expect(load({ gate, limits: { files: 1, bytes: 1 } })).rejects.toMatchObject({ option: 'limits' });
  await expect(load({ gate: {} as never })).rejects.toMatchObject({ option: 'gate.authorize' });
});

test('`limits` bounds the files that one approval covers', async () => {
  const { load } = ground();

  const runtime = await load({ approve: () => true, limits: { files: 0, bytes: 0 } });

  expect(runtime.status().extensions.extensions).toMatchObject([{ name: 'whole', approved: false }]);
  await expect(load({ limits: { files: -1, bytes: 0 } })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
});

test('`compat` reads the hook files of other programs in the home directory and in the workspace', async () => {
  const { load, cwd, home, trace } = ground();
  const note = (name: string) =>
    script(join(home, `${name}.sh`), `#!/bin/sh\ncat > /dev/null\necho ${name} >> ${trace}\necho '{}'\n`);
  const claudeForm = (name: string) => ({
    hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: note(name) }] }] },
  });
  const cursorForm = (name: string) => ({ version: 1, hooks: { beforeSubmitPrompt: [{ command: note(name) }] } });
  const copilotForm = (name: string) => ({
    version: 1,
    hooks: { userPromptSubmitted: [{ type: 'command', bash: note(name) }] },
  });
  const files: readonly (readonly [string, object])[] = [
    [join(home, '.codex/hooks.json'), claudeForm('codex-user')],
    [join(cwd, '.codex/hooks.json'), claudeForm('codex-workspace')],
    [join(home, '.cursor/hooks.json'), cursorForm('cursor-user')],
    [join(cwd, '.cursor/hooks.json'), cursorForm('cursor-workspace')],
    [join(home, '.copilot/hooks/a.json'), copilotForm('copilot-user')],
    [join(cwd, '.github/hooks/a.json'), copilotForm('copilot-workspace')],
  ];
  for (const [path, content] of files) write(path, JSON.stringify(content));
  const runtime = await load({ approve: () => true, plugins: false, compat: ['codex', 'cursor', 'copilot'] });
  const agent = new Agent({ model: scriptedModel(['done']), ...runtime.agentOptions() });

  await agent.run('go');

  expect([...linesOf(trace)].filter((line) => line.includes('-')).sort()).toEqual([
    'codex-user',
    'codex-workspace',
    'copilot-user',
    'copilot-workspace',
    'cursor-user',
    'cursor-workspace',
  ]);
  await expect(load({ compat: ['native'] as never })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
  await agent.close();
});

test('with `hooks: false` no shell hook is read, prompted for or run', async () => {
  const { load, asked, trace, home } = ground();
  write(join(home, '.app/hooks.json'), 'not JSON');
  const runtime = await load({
    hooks: false,
    plugins: false,
    config: { hooks: { before_agent: [{ name: 'own', command: 'true' }] } },
    approve: ({ item }) => asked.push(`${item.kind} ${item.name}`) > 0,
  });
  const agent = new Agent({ model: scriptedModel(['done']), ...runtime.agentOptions() });

  await agent.run('go');

  expect(linesOf(trace)).toEqual([]);
  expect(asked.filter((item) => item.startsWith('hook'))).toEqual([]);
  expect(runtime.status()).toMatchObject({
    hooks: { hooks: [], diagnostics: [] },
    extensions: { extensions: [{ name: 'whole', state: 'active', hooks: [], skills: ['whole:greet'] }] },
  });
  expect((await runtime.reload()).hooks).toEqual({ added: [], removed: [], changed: [], unchanged: [] });
  await agent.close();
});

test('MCP servers receive the name and version of the application', async () => {
  const { load, cwd } = ground();
  const log = join(cwd, 'log');

  await load({
    config: { mcpServers: { own: raw({ log }) } },
    mcp: { clientInfo: { name: 'my-agent', version: '2.0.0' } },
  });

  const hello = readLog(log).find(({ received }) => received?.method === 'initialize');
  expect(hello?.received?.params).toMatchObject({ clientInfo: { name: 'my-agent', version: '2.0.0' } });
});

test.each(['the home directory', 'a parent of the home directory'])(
  'with cwd in %s, only the items of the user load',
  async (where) => {
    const { load, home, trace } = ground();
    const parts = {
      hooks: [{ name: 'ext', event: 'before_agent', command: './note.sh' }],
      mcpServers: { ext: raw() },
      skills: [{ name: 'greet', description: 'Greets.', prompt: 'Say hello.' }],
    };
    const folder = join(home, '.app/extensions/mine');
    write(join(folder, 'manifest.json'), JSON.stringify(manifest('mine', parts)));
    script(join(folder, 'note.sh'), `#!/bin/sh\necho extension hook in $PWD >> ${trace}\necho '{}'\n`);
    write(join(home, '.agents/skills/tide/SKILL.md'), '---\nname: tide\ndescription: Tides.\n---\nLook.\n');
    write(join(home, '.mcp.json'), JSON.stringify({ mcpServers: { tell: raw() } }));
    write(join(home, 'app.plugins.mjs'), `throw new RangeError('imported');\n`);
    const logger = keepingLogger();
    const asked: string[] = [];
    const cwd = where === 'the home directory' ? home : join(home, '..');
    mkdirSync(join(home, 'deep'), { recursive: true });

    const runtime = await load({ cwd, logger, approve: ({ item }) => asked.push(item.name) > 0 });
    const agent = new Agent({ model: scriptedModel(['done']), ...runtime.agentOptions() });
    await agent.run('go');

    expect(asked).toEqual([]);
    expect([...linesOf(trace)].sort()).toEqual([`extension hook in ${folder}`, 'user hook']);
    expect(runtime.status()).toMatchObject({
      extensions: { extensions: [{ name: 'mine', scope: 'user', state: 'active' }], skills: ['mine:greet', 'tide'] },
      hooks: {
        hooks: [
          { name: 'note', scope: 'user' },
          { name: 'ext', scope: 'user' },
        ],
      },
      servers: [{ name: 'mine-ext', state: 'connected' }],
      plugins: { plugins: [], failures: [] },
    });
    expect(logger.lines.filter((line) => line.includes('does not count as a workspace'))).toHaveLength(1);
    expect((await runtime.reload()).servers).toMatchObject({ unchanged: ['mine-ext'] });
    await agent.close();
  },
);

test.each([
  ['compat', { compat: ['nope'] }],
  ['hooks', { hooks: true }],
  ['limits', { limits: 5 }],
  ['gate', { gate: true }],
])('refuses an option with an invalid value: %s', async (option, options) => {
  const { load } = ground();

  await expect(load(options as unknown as RuntimeOptions)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
  expect(option in options).toBe(true);
});
