import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { linesOf, manifest } from '../support/manifest/place.js';
import { isGone, raw, readLog } from '../support/mcp/lab.js';
import { script, write } from '../support/process/scratch.js';
import { ground } from '../support/runtime/ground.js';

const NONE = { added: [], removed: [], changed: [] };
const progress = [{ name: 'progress', inputSchema: { type: 'object' } }];
const pidsIn = (log: string) => readLog(log).flatMap(({ pid }) => pid ?? []);

test('a reload of an unchanged configuration restarts nothing and prompts for nothing', async () => {
  const { load, asked, cwd, trace } = ground();
  const log = join(cwd, 'log');
  write(
    join(cwd, '.app/extensions/whole/manifest.json'),
    JSON.stringify(manifest('whole', { mcpServers: { ext: raw({ log }) } })),
  );
  const runtime = await load({ approve: ({ item }) => asked.push(item.name) > 0 });
  const agent = new Agent({ model: scriptedModel(['a', 'b']), ...runtime.agentOptions() });
  await agent.run('go');
  const [questions, started] = [asked.length, pidsIn(log).length];

  expect(await runtime.reload()).toEqual({
    extensions: { ...NONE, unchanged: ['whole'] },
    hooks: { ...NONE, unchanged: ['note'] },
    servers: { ...NONE, unchanged: ['tell', 'whole-ext'] },
    plugins: { ...NONE, unchanged: ['note'] },
    diagnostics: [],
  });
  await agent.run('go');
  expect(asked).toHaveLength(questions);
  expect(pidsIn(log)).toHaveLength(started);
  expect([...linesOf(trace)].sort()).toEqual(['plugin', 'plugin', 'user hook', 'user hook']);
  await agent.close();
});

test('a reload reads hooks, servers, extensions and plugins again and reports the changes', async () => {
  const { load, cwd, home, trace } = ground();
  const runtime = await load({ approve: () => true });
  const model = scriptedModel(['a', 'b']);
  const agent = new Agent({ model, ...runtime.agentOptions() });
  await agent.run('go');
  const command = script(join(home, '.app/other.sh'), `#!/bin/sh\necho other >> ${trace}\necho '{}'\n`);
  write(join(home, '.app/hooks.json'), JSON.stringify({ hooks: { before_agent: [{ name: 'other', command }] } }));
  write(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { fresh: raw() } }));
  write(join(cwd, '.app/extensions/more/manifest.json'), JSON.stringify(manifest('more', { skills: [] })));
  rmSync(join(cwd, '.app/extensions/whole'), { recursive: true });
  const plugin = `import { appendFileSync } from 'node:fs';
export default { name: 'note', hooks: { beforeMessage: (message) => { appendFileSync(${JSON.stringify(trace)}, 'plugin 2\\n'); return message; } } };\n`;
  write(join(cwd, 'plugin.mjs'), plugin);
  writeFileSync(trace, '');

  expect(await runtime.reload()).toEqual({
    extensions: { added: ['more'], removed: ['whole'], changed: [], unchanged: [] },
    hooks: { added: ['other'], removed: ['note', 'ext'], changed: [], unchanged: [] },
    servers: { added: ['fresh'], removed: ['tell'], changed: [], unchanged: [] },
    plugins: { ...NONE, changed: ['note'], unchanged: [] },
    diagnostics: [],
  });
  await agent.run('go');
  expect([...linesOf(trace)].sort()).toEqual(['other', 'plugin 2']);
  expect(model.requests[1]?.tools.map(({ name }) => name)).toContain('mcp__fresh__echo');
  await agent.close();
});

test('an open tool call of a removed server gets its result before the server ends', async () => {
  const { load, cwd } = ground();
  const log = join(cwd, 'log');
  write(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { slow: raw({ log, tools: progress }) } }));
  const runtime = await load({ approve: () => true });
  const model = scriptedModel([calls('mcp__slow__progress', { steps: 1, everyMs: 200 }), says('done')]);
  const agent = new Agent({ model, ...runtime.agentOptions() });
  const run = agent.run('go');
  await expect.poll(() => readLog(log).some(({ received }) => received?.method === 'tools/call')).toBe(true);
  write(join(cwd, '.mcp.json'), '{}');

  const report = await runtime.reload();

  expect(report.servers).toMatchObject({ removed: ['slow'] });
  const { text, messages } = await run;
  expect(text).toBe('done');
  expect(JSON.stringify(messages)).toContain('1 steps');
  await expect.poll(() => pidsIn(log).every(isGone)).toBe(true);
  await agent.close();
});

test('an open run keeps its replaced plugins, which are shut down with the agent', async () => {
  const { load, cwd, trace } = ground();
  const plugin = (word: string) => `import { appendFileSync } from 'node:fs';
const note = (what) => appendFileSync(${JSON.stringify(trace)}, '${word} ' + what + '\\n');
export default { name: 'note', hooks: {
  beforeMessage: (message) => { note('message'); return message; },
  afterResponse: () => note('response'),
  onShutdown: () => note('shutdown'),
} };\n`;
  write(join(cwd, 'plugin.mjs'), plugin('one'));
  const runtime = await load({ approve: () => true });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = scriptedModel(() => held.then(() => says('done')) as never);
  const agent = new Agent({ model, ...runtime.agentOptions() });
  const run = agent.run('go');
  await expect.poll(() => linesOf(trace)).toContain('one message');
  write(join(cwd, 'plugin.mjs'), plugin('two'));

  expect((await runtime.reload()).plugins).toMatchObject({ changed: ['note'] });
  expect(linesOf(trace)).not.toContain('one shutdown');
  release();
  await run;
  await agent.run('go');
  await agent.close();

  const words = linesOf(trace).filter((line) => /^(one|two)/.test(line));
  expect(words).toEqual(['one message', 'one response', 'two message', 'two response', 'two shutdown', 'one shutdown']);
});

test('reports a plugin as changed if the options of its entry have changed', async () => {
  const { load, cwd } = ground();
  const configure = (options: object) =>
    write(join(cwd, 'app.plugins.json'), JSON.stringify({ plugins: [{ path: './plugin.mjs', options }] }));
  rmSync(join(cwd, 'app.plugins.mjs'));
  configure({ metres: 4 });
  const runtime = await load({ approve: () => true });
  const agent = new Agent({ model: scriptedModel(['a']), ...runtime.agentOptions() });
  await agent.run('go');
  configure({ metres: 5 });

  expect((await runtime.reload()).plugins).toEqual({ ...NONE, changed: ['note'], unchanged: [] });
  expect(JSON.stringify(runtime.status())).not.toContain('metres');
  await agent.close();
});

test('if the plugin configuration cannot be read, the earlier plugins stay in use', async () => {
  const { load, cwd } = ground();
  const runtime = await load({ approve: () => true, plugins: { config: join(cwd, 'app.plugins.mjs') } });
  const agent = new Agent({ model: scriptedModel(['a']), ...runtime.agentOptions() });
  await agent.run('go');
  write(join(cwd, 'app.plugins.mjs'), 'export default {');

  const report = await runtime.reload();

  expect(report.plugins).toEqual({ ...NONE, unchanged: ['note'] });
  expect(report.diagnostics).toMatchObject([{ kind: 'plugins', level: 'error' }]);
  await agent.close();
});

test.each([
  ['hooks.json', 'hooks'],
  ['.mcp.json', 'servers'],
])('a link without a target in place of %s keeps its hooks or servers, and is reported', async (name, kind) => {
  const { load, cwd, home } = ground();
  const runtime = await load({ approve: () => true, plugins: false });
  const path = name === 'hooks.json' ? join(home, '.app', name) : join(cwd, name);
  rmSync(path);
  symlinkSync('gone', path);

  const report = await runtime.reload();

  expect(report[kind as 'hooks']).toMatchObject({ removed: [] });
  expect(runtime.hooks.status().hooks.map((hook) => hook.name)).toContain('note');
  expect(runtime.mcp.status().map((server) => server.name)).toEqual(['tell']);
  expect(report.diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('link without a target')]);
});

test('all calls during a reload share one further reload after it', async () => {
  const { load, cwd } = ground();
  const runtime = await load({ approve: () => true, plugins: false });
  const first = runtime.reload();
  write(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { fresh: raw() } }));

  const [, second, third] = await Promise.all([first, runtime.reload(), runtime.reload()]);

  expect(third).toBe(second);
  expect(runtime.mcp.status().map(({ name }) => name)).toEqual(['fresh']);
});

test('reload rejects with a typed error if the runtime is closed before or during the call', async () => {
  const { load, cwd } = ground();
  const runtime = await load({ approve: () => true });
  write(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { fresh: raw() } }));

  const reloading = runtime.reload().catch((error: unknown) => error);
  await runtime.close();

  expect(await reloading).toMatchObject({ code: 'ERR_RUNTIME_CLOSED' });
  await expect(runtime.reload()).rejects.toMatchObject({ code: 'ERR_RUNTIME_CLOSED' });
});

test('a reload reports unreadable files and keeps their earlier hooks and servers', async () => {
  const { load, cwd, home } = ground();
  const runtime = await load({ approve: () => true, plugins: false });
  write(join(home, '.app/hooks.json'), '{');
  write(join(cwd, '.mcp.json'), '{');

  const { hooks, servers, diagnostics } = await runtime.reload();

  expect(hooks).toEqual({ ...NONE, unchanged: ['note', 'ext'] });
  expect(servers).toEqual({ ...NONE, unchanged: ['tell'] });
  expect(diagnostics.map(({ kind, level }) => `${kind} ${level}`)).toEqual(['hooks error', 'servers error']);
});
