import { chmodSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advancing } from '../../support/agent/advancing.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { everythingOverHttp, type HttpServer } from '../../support/mcp/everything.js';
import {
  asProcesses,
  call,
  connected,
  fixture,
  isGone,
  lab,
  raw,
  readLog,
  stateOf,
  temporaryFolder,
  variable,
} from '../../support/mcp/lab.js';

describe('connecting to a server', () => {
  const running: { sse?: HttpServer; streamableHttp?: HttpServer } = {};
  beforeAll(async () => {
    const [sse, streamableHttp] = [everythingOverHttp('sse'), everythingOverHttp('streamableHttp')];
    Object.assign(running, { sse: await sse, streamableHttp: await streamableHttp });
  });
  afterAll(async () => {
    await running.sse?.[Symbol.asyncDispose]();
    await running.streamableHttp?.[Symbol.asyncDispose]();
  });

  test('S0-8.1: over stdio: performs the handshake, lists the tools and calls one', async () => {
    const log = join(temporaryFolder(), 'log');
    const { mcp } = await connected({ servers: { raw: raw({ log }) }, system: asProcesses });

    const result = await call(mcp, 'mcp__raw__echo', { text: 'hello' });

    expect(result).toMatchObject({ content: 'echo: {"text":"hello"}' });
    expect(readLog(log).flatMap(({ received }) => received?.method ?? [])).toEqual([
      ...['initialize', 'notifications/initialized', 'tools/list', 'tools/call'],
    ]);
    expect(mcp.status()).toEqual([
      {
        ...{ name: 'raw', state: 'connected', transport: 'stdio', protocolVersion: '2025-11-25', reconnects: 0 },
        ...{ lastError: undefined, scope: 'builtin', source: undefined, reads: [], toolCount: 3, ignoredFields: [] },
        tools: ['mcp__raw__echo', 'mcp__raw__hang', 'mcp__raw__die'],
      },
    ]);
  });

  // covers: S0-8.2, S0-8.3
  test.each([
    ['S0-8.2: over SSE', 'sse', 'sse'],
    ['S0-8.3: over Streamable HTTP', 'streamableHttp', 'http'],
  ] as const)('%s: performs the handshake, lists the tools and calls one', async (_title, mode, type) => {
    const { mcp } = await connected({ servers: { everything: { type, url: running[mode]?.url } } });

    const result = await call(mcp, 'mcp__everything__echo', { message: 'hello' });

    expect(result).toMatchObject({ content: 'Echo: hello' });
    expect(mcp.status()).toMatchObject([{ state: 'connected', transport: type, protocolVersion: '2025-11-25' }]);
  });

  test('shows the instructions of a connected server in its status, shortened and without control characters', async () => {
    const instructions = `Look \u202efirst.${'x'.repeat(5_000)}`;
    const { mcp } = await connected({ servers: { a: raw({ instructions }), b: raw() } });

    expect(mcp.status().map((status) => status.instructions?.slice(0, 11))).toEqual(['Look first.', undefined]);
    expect(mcp.status()[0]?.instructions).toMatch(/… \(5012 characters\)$/);
    await mcp.close();
    expect(mcp.status()[0]?.instructions).toBe(undefined);
  });

  test('uses SSE without a `type` and without a warning if the server refuses Streamable HTTP', async () => {
    const { mcp, logger } = await connected({ servers: { everything: { url: running.sse?.url } } });

    expect(await call(mcp, 'echo', { message: 'hello' })).toMatchObject({ content: 'Echo: hello' });
    expect(mcp.status()).toMatchObject([{ state: 'connected', transport: 'sse' }]);
    expect(logger.lines.filter((line) => /^(?:warn|error)/.test(line) && !line.includes('as a task'))).toEqual([]);
  });
});

describe('the program of a server', () => {
  test('S0-8.4: starts the program once per connection with exactly the command and the arguments, without a shell', async () => {
    const log = join(temporaryFolder(), 'log');
    const args = ['a b', '"quoted"', "it's", '$(touch pwned)', '*', '', '\\', 'ä€😀', '--', '; rm'];
    const { command, args: own = [] } = raw({ log });
    await connected({ servers: { raw: { command: command ?? '', args: [...own, ...args] } }, system: asProcesses });

    const starts = readLog(log).filter(({ argv }) => argv);

    expect(starts.map(({ argv }) => argv?.slice(1))).toEqual([args]);
  });

  test('finds the program in PATH, and runs it under its name in PATH', async () => {
    const folder = temporaryFolder();
    const log = join(folder, 'log');
    symlinkSync(process.execPath, join(folder, 'my-node'));
    const config = raw({ log }, { command: 'my-node', env: { PATH: folder } });
    const { mcp } = await connected({ servers: { raw: config }, system: asProcesses });

    expect(stateOf(mcp, 'raw')).toBe('connected');
  });

  test('passes only harmless inherited variables and `env` to the program', async () => {
    const log = join(temporaryFolder(), 'log');
    const env = { PATH: process.env.PATH, HOME: '/home/me', SECRET: 'x', OPENAI_API_KEY: 'y', NODE_OPTIONS: '' };
    const config = raw({ log }, { env: { OWN: variable('SECRET'), DEFAULTED: variable('NONE:-d') } });
    await connected({ servers: { raw: config }, system: { env, ...asProcesses } });

    const { env: received = {} } = readLog(log)[0] ?? {};

    expect(received).toEqual({ PATH: expect.any(String), HOME: '/home/me', OWN: 'x', DEFAULTED: 'd' });
  });

  test('runs the program in the directory `cwd`', async () => {
    const folder = temporaryFolder();
    const log = join(folder, 'log');
    await connected({ servers: { raw: raw({ log }, { cwd: folder }) }, system: asProcesses });

    expect(readLog(log)[0]?.cwd).toBe(folder);
  });
});

describe('S0-8.5: a server that does not start is logged and becomes unavailable, without a throw:', () => {
  const folder = () => {
    const path = temporaryFolder();
    writeFileSync(join(path, 'plain'), '#!/bin/sh\n');
    writeFileSync(join(path, 'shebang'), '#!/nowhere/sh\n');
    writeFileSync(join(path, 'text'), 'echo hi\n');
    chmodSync(join(path, 'shebang'), 0o755);
    chmodSync(join(path, 'text'), 0o755);
    return path;
  };
  const ways: readonly (readonly [string, (path: string) => object, RegExp])[] = [
    ['an unknown command', () => ({ command: 'nonexistent' }), /"nonexistent" was not found in PATH/],
    ['a missing file', (path) => ({ command: join(path, 'none') }), /ENOENT/],
    ['a file that is not executable', (path) => ({ command: join(path, 'plain') }), /chmod \+x/],
    ['a folder', (path) => ({ command: path }), /is a directory/],
    ['a missing interpreter', (path) => ({ command: join(path, 'shebang') }), /\/nowhere\/sh/],
    ['a text file without an interpreter', (path) => ({ command: join(path, 'text') }), /is not a program/],
    [
      'a missing folder to run in',
      () => ({ command: '/bin/cat', cwd: '/nowhere' }),
      /The working directory \/nowhere is missing/,
    ],
    [
      'a program that exits at once',
      () => ({ command: '/bin/sh', args: ['-c', 'echo no licence >&2; exit 7'] }),
      /code 7.*no licence/s,
    ],
    [
      'a program that prints an invalid message and exits',
      () => ({ command: '/bin/echo', args: ['hi'] }),
      /exited with code 0/,
    ],
    ['an HTTP host that is not reachable', () => ({ url: 'http://127.0.0.1:9/mcp' }), /ECONNREFUSED|bad port/],
  ];

  test.each(ways)('%s', async (_title, config, message) => {
    const servers = { bad: config(folder()), good: raw() };
    const { mcp, logger } = await connected({ servers, reconnect: false });

    expect(mcp.status()).toMatchObject([
      { name: 'bad', state: 'unavailable', toolCount: 0, lastError: expect.stringMatching(message) },
      { name: 'good', state: 'connected' },
    ]);
    expect(
      logger.lines.filter((line) => line.startsWith('error: MCP server "bad"') && new RegExp(message).test(line)),
    ).toHaveLength(1);
  });
});

describe('S0-8.6: the time limit for connecting', () => {
  test('is exactly 10 seconds by default', async () => {
    const clock = fakeClock();
    const { mcp } = lab({ servers: { silent: raw({ silent: true }) }, reconnect: false, system: { clock } });
    const connecting = mcp.connect();
    await until(() => clock.delays.length > 0);

    clock.advance(9_999);
    expect(stateOf(mcp, 'silent')).toBe('connecting');
    clock.advance(1);
    await connecting;

    expect(mcp.status()).toMatchObject([
      { state: 'unavailable', lastError: expect.stringContaining('took longer than 10000 ms') },
    ]);
  });

  test('is set by `connectMs`, and a slow server does not affect other servers', async () => {
    const clock = fakeClock();
    const { mcp } = lab({
      servers: { silent: raw({ silent: true }), good: raw() },
      timeouts: { connectMs: 400 },
      reconnect: false,
      system: { clock },
    });
    const connecting = mcp.connect();
    await until(() => stateOf(mcp, 'good') === 'connected');

    expect(stateOf(mcp, 'silent')).toBe('connecting');
    clock.advance(400);
    await connecting;
    expect(mcp.status().map(({ state }) => state)).toEqual(['unavailable', 'connected']);
  });

  test('reports the standard error of a program that exceeds the time limit', async () => {
    const clock = fakeClock();
    const { mcp, logger } = lab({
      servers: { silent: raw({ silent: true, stderr: 'Log in first: \u001b[31mhttps://example.com/\n' }) },
      timeouts: { connectMs: 400 },
      reconnect: false,
      system: { clock },
    });
    const connecting = mcp.connect();
    await until(() => logger.lines.some((line) => line.includes('Log in first')));
    clock.advance(400);
    await connecting;

    expect(mcp.status()[0]?.lastError).toBe(
      'The connection to MCP server "silent" took longer than 400 ms. Raise `timeouts.connectMs` if the server needs more time. So far its standard error ends with: Log in first: https://example.com/',
    );
  });

  test('F14: ends the process of a server that completes the handshake too late', async () => {
    const log = join(temporaryFolder(), 'log');
    const clock = fakeClock();
    const { mcp } = lab({
      servers: { late: raw({ log, lateMs: 10, trap: true, stay: true }) },
      timeouts: { connectMs: 400 },
      reconnect: false,
      system: { clock },
    });
    const connecting = mcp.connect();
    await until(() => existsSync(log));
    clock.advance(400);
    await connecting;
    const [{ pid = 0 } = {}] = readLog(log);
    await until(() => readLog(log).some(({ sent }) => sent === 'initialize'));
    expect([stateOf(mcp, 'late'), isGone(pid)]).toEqual(['unavailable', false]);

    await advancing(clock, mcp.close());

    expect(isGone(pid)).toBe(true);
    expect(mcp.tools.list()).toEqual([]);
  });
});

describe('S0-8.7: a server that disconnects', () => {
  test('logs a disconnected server, removes its tools at once, and connects it again', async () => {
    const log = join(temporaryFolder(), 'log');
    const clock = fakeClock();
    const { mcp, logger } = await connected({
      servers: { raw: raw({ log }) },
      reconnect: { initialDelayMs: 50, maxDelayMs: 50 },
      system: { clock, ...asProcesses },
    });
    const [{ pid = 0 } = {}] = readLog(log);
    const { revision } = mcp.tools;

    process.kill(pid, 'SIGKILL');
    await until(() => stateOf(mcp, 'raw') === 'reconnecting');

    expect(mcp.tools.list()).toEqual([]);
    expect(mcp.tools.revision).toBeGreaterThan(revision);
    expect(logger.lines.filter((line) => /disconnected.*SIGKILL/.test(line))).toHaveLength(1);
    clock.advance(50);
    await until(() => stateOf(mcp, 'raw') === 'connected');
    expect(mcp.tools.list()).toHaveLength(3);
    expect(mcp.status()).toMatchObject([{ reconnects: 1, lastError: undefined }]);
  });

  test('leaves a server disconnected with `reconnect: false`, until `reconnect()` is called', async () => {
    const { mcp } = await connected({ servers: { raw: raw() }, reconnect: false });
    await call(mcp, 'die');
    await until(() => stateOf(mcp, 'raw') === 'unavailable');

    await mcp.server('raw').reconnect();

    expect(await call(mcp, 'echo')).toMatchObject({ content: 'echo: {}' });
  });
});

test('close() ends a server behind a shell that ignores every signal', async () => {
  const log = join(temporaryFolder(), 'log');
  const { command = '', args = [] } = raw({ log, trap: true, stay: true });
  const clock = fakeClock();
  const servers = { raw: { command: fixture('stubborn.sh'), args: [command, ...args] } };
  const { mcp } = await connected({ servers, system: { clock } });
  const [{ pid = 0 } = {}] = readLog(log);
  expect(isGone(pid)).toBe(false);

  await advancing(clock, mcp.close());

  // The system removes a process some time after it was killed.
  await until(() => isGone(pid));
  expect(await call(mcp, 'echo').catch(String)).toContain('There is no tool');
});
