import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Agent } from '../../src/index.js';
import { loadRuntime, type RuntimeOptions } from '../../src/runtime/runtime.js';
import { calls, says, scriptedModel } from '../../src/testing/testing.js';
import { echoServer, linesOf } from '../support/manifest/place.js';
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
  expect((await runtime.store.load('s'))?.messages[0]).toEqual({ role: 'user', content: 'Say hello.' });
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

/**
 * Starts a program that loads a runtime and sends it a signal after its first output. Returns that output, and its exit
 * code or signal.
 */
async function signalled(signal: NodeJS.Signals, { cwd, home }: Ground, body: string) {
  const from = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
  const main = write(
    join(cwd, 'main.mts'),
    `import { Agent } from ${from('../../src/index.ts')};
import { loadRuntime } from ${from('../../src/runtime/runtime.ts')};
import { scriptedModel } from ${from('../../src/testing/testing.ts')};
${body}
setInterval(() => {}, 1000);\n`,
  );
  const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url));
  const child = spawn(process.execPath, [tsx, main], {
    cwd,
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', (code, by) => resolve(by ?? code)));
  const [first] = (await child.stdout.take(1).toArray()) as Buffer[];
  child.kill(signal);
  return { first: String(first).trim(), ended: await ended };
}

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('on %s, with `closeOnSignals`, a runtime', (signal, code) => {
  test('closes, and the process ends with that signal', async () => {
    const { first, ended } = await signalled(
      signal,
      ground(),
      `const mcp = { waitForServers: true };
const runtime = await loadRuntime({ appName: 'app', approve: () => true, mcp, plugins: false, closeOnSignals: true });
console.log(runtime.mcp.status()[0].state);`,
    );

    expect(first).toBe('connected');
    // tsx forwards the signal and may report it as an exit code.
    expect([signal, code]).toContain(ended);
  });

  test('S3-4.2: closes its agents first: sessions end, and plugins shut down in reverse order', async () => {
    const place = ground();
    const { cwd, trace } = place;
    const note = (word: string) => `appendFileSync(${JSON.stringify(trace)}, '${word}\\n');`;
    for (const name of ['a', 'b', 'c']) {
      const onShutdown = `async onShutdown() { await new Promise((r) => setTimeout(r, 50)); ${note(name)} throw 0; }`;
      const plugin = `export default { name: '${name}', hooks: { ${onShutdown} } };\n`;
      write(join(cwd, `${name}.mjs`), `import { appendFileSync } from 'node:fs';\n${plugin}`);
    }
    const end = script(join(cwd, 'end.sh'), `#!/bin/sh\necho session end >> ${trace}\necho '{}'\n`);
    const paths = ['a', 'b', 'c'].map((name) => ({ path: join(cwd, `${name}.mjs`) }));
    const { ended } = await signalled(
      signal,
      place,
      `const config = { hooks: { session_end: [{ name: 'end', command: ${JSON.stringify(end)} }] } };
const plugins = { config: { plugins: ${JSON.stringify(paths)} } };
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const runtime = await loadRuntime({ appName: 'app', config, plugins, closeOnSignals: true, logger: silent });
const agent = new Agent({ model: scriptedModel(() => 'x'), ...runtime.agentOptions() });
await (await agent.session()).run('go');
console.log('ran');`,
    );

    expect(linesOf(trace).filter((line) => line !== 'user hook')).toEqual(['session end', 'c', 'b', 'a']);
    expect([signal, code]).toContain(ended);
  });

  test.each(['before', 'after'])(
    "leaves ending the process to a `once` handler of the host that was added %s the runtime's",
    async (when) => {
      const own = `process.once('${signal}', () => setTimeout(() => process.exit(7), 300));`;
      const { ended } = await signalled(
        signal,
        ground(),
        `${when === 'before' ? own : ''}
for (const userDir of ['/none-a', '/none-b']) await loadRuntime({ appName: 'app', userDir, plugins: false, closeOnSignals: true });
${when === 'after' ? own : ''}
console.log('ran');`,
      );

      expect(ended).toBe(7);
    },
  );

  test('ends the process when all runtimes are closed, even if MCP servers of the host are still connected', async () => {
    const place = ground();
    const { cwd, trace } = place;
    const { ended } = await signalled(
      signal,
      place,
      `import { appendFileSync } from 'node:fs';
import { mcpServers } from ${JSON.stringify(fileURLToPath(new URL('../../src/mcp/mcp.ts', import.meta.url)))};
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const later = (done) => new Promise((resolve) => setTimeout(resolve, 10)).then(() => (done() ? undefined : later(done)));
const own = mcpServers({ servers: { own: { command: 'node', args: [${JSON.stringify(echoServer)}] } }, waitForServers: true, system: { logger } });
await own.connect();
const server = () => own.status()[0];
const waits = [() => true, () => server().reconnects > 0 && server().state === 'connected'];
for (const [at, done] of waits.entries()) {
  const userDir = ${JSON.stringify(cwd)} + '-user' + at;
  const runtime = await loadRuntime({ appName: 'app', userDir, plugins: false, closeOnSignals: true, logger });
  const onShutdown = async () => { await later(done); appendFileSync(${JSON.stringify(trace)}, 'closed ' + at + '\\n'); };
  const agent = new Agent({ model: scriptedModel(() => 'x'), ...runtime.agentOptions(), lifecycle: [{ onShutdown }] });
  await agent.run('go');
}
console.log('ran');`,
    );

    expect(linesOf(trace).filter((line) => line !== 'user hook')).toEqual(['closed 0', 'closed 1']);
    expect([signal, code]).toContain(ended);
  });
});
