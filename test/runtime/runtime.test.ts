import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, messagesOf } from 'keelson';
import { loadRuntime, type RuntimeOptions } from 'keelson/runtime';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import type { HostOrder } from '../fixtures/runtime/host.js';
import { echoServer, linesOf } from '../support/manifest/place.js';
import { bundle } from '../support/process/bundle.js';
import { script, write } from '../support/process/scratch.js';
import { type Ground, ground } from '../support/runtime/ground.js';

test('one call loads extensions, hooks, servers, plugins and sessions behind one trust gate', async () => {
  const { load, asked, trace, home } = ground();
  const runtime = await load({
    approve: ({ item, parts }) => {
      asked.push(`${item.kind} ${item.name}`, ...parts.map((part) => `part ${part.item.kind} ${part.item.name}`));
      return true;
    },
  });
  const model = scriptedModel([calls('mcp__tell__echo', { variable: 'USER_X' }), says('done')]);
  const agent = new Agent({ model, ...runtime.agentOptions() });

  const session = await agent.session({ id: 's' });
  await session.run(await runtime.extensions.skills.invoke('greet'));

  expect(asked.slice(0, 4).sort()).toEqual(['extension whole', 'mcp-server tell', 'part hook ext', 'part skill whole']);
  expect(asked.slice(4).every((item) => item.startsWith('plugin '))).toBe(true);
  expect([...linesOf(trace)].sort()).toEqual(['extension hook', 'plugin', 'user hook']);
  expect(model.requests[0]?.tools.map(({ name }) => name).sort()).toEqual(['mcp__tell__echo', 'skill']);
  expect(runtime.status()).toMatchObject({
    extensions: { extensions: [{ name: 'whole', state: 'active', approved: true }], skills: ['whole:greet'] },
    hooks: {
      hooks: [
        { name: 'note', scope: 'user' },
        { name: 'ext', scope: 'workspace' },
      ],
    },
    servers: [{ name: 'tell', state: 'connected' }],
    plugins: { plugins: [{ name: 'note' }] },
  });
  expect(readdirSync(join(home, '.app')).sort()).toEqual(expect.arrayContaining(['sessions', 'trusted-hooks.json']));
  expect(messagesOf((await runtime.store.load('s'))?.entries ?? [])[0]).toEqual({
    role: 'user',
    content: 'Say hello.',
  });
  await agent.close();
});

test('without `approve`, items of the workspace are listed but not used', async () => {
  const { load, trace } = ground();
  const runtime = await load();
  const model = scriptedModel(['done']);
  const agent = new Agent({ model, ...runtime.agentOptions() });

  await agent.run('go');

  expect(linesOf(trace)).toEqual(['user hook']);
  expect(model.requests[0]?.tools).toEqual([]);
  expect(runtime.status()).toMatchObject({
    extensions: { extensions: [{ name: 'whole', state: 'pending', approved: false }], skills: [] },
    servers: [{ name: 'tell', state: 'pending' }],
    plugins: { plugins: [], failures: [expect.any(String)] },
  });
  await agent.close();
});

test('several agents share the loaded items and later changes', async () => {
  const { load } = ground();
  const runtime = await load({ approve: () => true, plugins: false });
  const models = [scriptedModel(['a', 'b']), scriptedModel(['a', 'b'])];
  const agents = models.map((model) => new Agent({ model, ...runtime.agentOptions() }));
  const tools = (run: number) => models.map((model) => model.requests[run]?.tools.map(({ name }) => name).sort());

  await Promise.all(agents.map((agent) => agent.run('go')));
  await runtime.extensions.disable('whole');
  await agents[0]?.close();
  await agents[1]?.run('go');

  expect(tools(0)).toEqual(Array(2).fill(['mcp__tell__echo', 'skill']));
  expect(tools(1)).toEqual([undefined, ['mcp__tell__echo']]);
  await agents[1]?.close();
});

test('a change reaches an open agent while another agent is closing', async () => {
  const { load, home } = ground();
  const runtime = await load();
  const guard = script(join(home, '.app/guard.sh'), `#!/bin/sh\necho '{"continue":false,"reason":"not that"}'\n`);
  const [closing, open] = [0, 1].map(
    () => new Agent({ model: scriptedModel([calls('gone', {}), says('done')]), ...runtime.agentOptions() }),
  ) as [Agent, Agent];
  await Promise.all([closing.ready(), open.ready()]);

  const closed = closing.close();
  runtime.hooks.registry.register({ event: 'before_tool', name: 'guard', command: guard });
  const { messages } = await open.run('go');

  expect(JSON.stringify(messages)).toContain('not that');
  await Promise.all([closed, open.close()]);
});

test('an agent that outlives the runtime loses its hooks, tools and skills', async () => {
  const { load, trace } = ground();
  const runtime = await load({ approve: () => true, plugins: false });
  const model = scriptedModel(['a', 'b']);
  const agent = new Agent({ model, ...runtime.agentOptions() });
  await agent.run('go');
  const before = linesOf(trace).length;

  await runtime.close();
  await agent.run('go');

  expect(linesOf(trace)).toHaveLength(before);
  expect(model.requests[1]?.tools).toEqual([]);
  expect(runtime.mcp.status()).toMatchObject([{ state: 'closed' }]);
  await agent.close();
});

test('S0-14.1: takes hooks, their timeout, servers and settings from the configuration of the application', async () => {
  const { load } = ground();
  const runtime = await load({
    config: {
      hooks: { timeout: 500, before_model: [{ name: 'own', command: 'true' }] },
      mcpServers: { mine: { command: 'node', args: [echoServer] } },
      extensions: { whole: {} },
    },
  });

  expect(runtime.hooks.registry.hooksOf('before_model').map(({ name, scope }) => [name, scope])).toEqual([
    ['own', 'builtin'],
  ]);
  expect(runtime.mcp.status().map(({ name, state }) => `${name} ${state}`)).toEqual(['mine connected', 'tell pending']);
});

test('with `userDir`, hooks load from that directory and not from the default one', async () => {
  const { load, home, trace } = ground();
  const userDir = join(home, 'elsewhere');
  const command = script(join(userDir, 'note.sh'), `#!/bin/sh\necho elsewhere >> ${trace}\necho '{}'\n`);
  write(join(userDir, 'hooks.json'), JSON.stringify({ hooks: { before_agent: [{ name: 'there', command }] } }));
  const runtime = await load({ userDir });
  const agent = new Agent({ model: scriptedModel(['done']), ...runtime.agentOptions() });

  await agent.run('go');

  expect(linesOf(trace)).toEqual(['elsewhere']);
  expect(runtime.status().hooks.hooks.map(({ name }) => name)).toEqual(['there', 'ext']);
  await agent.close();
});

test('refuses an unknown option, a relative `userDir` and a `userDir` in the workspace', async () => {
  const { cwd } = ground();

  await expect(loadRuntime({ cwd, apName: 'x' } as RuntimeOptions)).rejects.toMatchObject({
    code: 'ERR_OPTION_INVALID',
  });
  await expect(loadRuntime({ cwd, userDir: join(cwd, 'x') })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
  await expect(loadRuntime({ cwd, userDir: 'x' })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
});

test.each([
  ['options', null],
  ['options', 5],
  ['options', []],
  ['cwd', { cwd: 5 }],
  ['cwd', { cwd: '' }],
  ['appName', { appName: 5 }],
  ['allow', { allow: 'sha256' }],
  ['config', { config: null }],
  ['manifests', { manifests: 5 }],
  ['hooks', { hooks: 'x' }],
  ['mcp', { mcp: [] }],
  ['plugins', { plugins: true }],
  ['store', { store: 5 }],
  ['logger', { logger: 'console' }],
  ['approve', { manifests: { approve: () => true } }],
  ['approveTimeoutMs', { manifests: { approveTimeoutMs: 5 } }],
])('names the invalid option in the error: %s, %j', async (option, options) => {
  await expect(loadRuntime(options as RuntimeOptions)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID', option });
});

test('an approval prompt without an answer in time counts as a denial', async () => {
  const { load } = ground();

  const runtime = await load({ approveTimeoutMs: 20, approve: () => new Promise(() => {}) });

  expect(runtime.mcp.status()).toMatchObject([{ name: 'tell', state: 'pending' }]);
});

const program = await bundle(fileURLToPath(new URL('../fixtures/runtime/host.ts', import.meta.url)));

describe('on a signal, with `closeOnSignals`,', () => {
  /** Starts the host program and signals it after its first output. Returns that output, and its exit code or signal. */
  async function signalled(signal: NodeJS.Signals, { cwd, home, trace }: Ground, more: Partial<HostOrder>) {
    const child = spawn(process.execPath, [program, JSON.stringify({ signal, cwd, trace, echoServer, ...more })], {
      cwd,
      env: { ...process.env, HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', (code, by) => resolve(by ?? code)));
    const [first] = (await child.stdout.take(1).toArray()) as Buffer[];
    child.kill(signal);
    return { first: String(first).trim(), ended: await ended };
  }

  test('a runtime closes, and the process ends with SIGINT', async () => {
    expect(await signalled('SIGINT', ground(), { way: 'connects' })).toEqual({ first: 'connected', ended: 'SIGINT' });
  });

  test('the process of an idle runtime ends with SIGTERM', async () => {
    expect(await signalled('SIGTERM', ground(), { way: 'idles' })).toEqual({ first: 'idle', ended: 'SIGTERM' });
  });

  test('S3-4.2: a runtime closes its agents first: sessions end, and plugins shut down in reverse order', async () => {
    const place = ground();
    const { cwd, trace } = place;
    const note = (word: string) => `appendFileSync(${JSON.stringify(trace)}, '${word}\\n');`;
    const paths = ['a', 'b', 'c'].map((name) => {
      const onShutdown = `async onShutdown() { await new Promise((r) => setTimeout(r, 50)); ${note(name)} throw 0; }`;
      const plugin = `export default { name: '${name}', hooks: { ${onShutdown} } };\n`;
      return write(join(cwd, `${name}.mjs`), `import { appendFileSync } from 'node:fs';\n${plugin}`);
    });
    const end = script(join(cwd, 'end.sh'), `#!/bin/sh\necho session end >> ${trace}\necho '{}'\n`);

    const { ended } = await signalled('SIGTERM', place, { way: 'runs', end, plugins: paths });

    expect(linesOf(trace).filter((line) => line !== 'user hook')).toEqual(['session end', 'c', 'b', 'a']);
    expect(ended).toBe('SIGTERM');
  });

  test.each([
    ['before', 'SIGINT', 'endsByItselfBefore'],
    ['after', 'SIGTERM', 'endsByItselfAfter'],
  ] as const)(
    "a runtime leaves ending the process to a `once` handler of the host that was added %s the runtime's",
    async (_when, signal, way) => {
      expect(await signalled(signal, ground(), { way })).toEqual({ first: 'ran', ended: 7 });
    },
  );

  test('the process ends when all runtimes are closed, even if MCP servers of the host are still connected', async () => {
    const place = ground();

    const { ended } = await signalled('SIGTERM', place, { way: 'hasOwnServer' });

    expect(linesOf(place.trace).filter((line) => line !== 'user hook')).toEqual(['closed 0', 'closed 1']);
    expect(ended).toBe('SIGTERM');
  });
});
