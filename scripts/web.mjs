// Installs and builds the page of examples/web, and starts its server. With --test, tests the page in Chromium; with
// --test-trace, the page of `keelson trace`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}examples/web`;

/**
 * Runs a program with the terminal of this process, and exits with its exit code if the program fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(`${folder}/node_modules/vite`))
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
const TRACE_PAGE = ['--import', 'tsx', '--test', '--test-concurrency=1'];
if (process.argv.includes('--test-trace')) {
  const files = ['page', 'live'].map((name) => `examples/web/trace-page/${name}.test.mjs`);
  run(process.execPath, [...TRACE_PAGE, ...files], root);
} else run('npm', [process.argv.includes('--test') ? 'test' : 'start'], folder);
