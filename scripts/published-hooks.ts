/**
 * Runs the hooks of published plugins, including their scripts, in agents with a scripted model. Compares the outcomes
 * with the expectations in `scripts/hooks`, which were written from the documentation of Claude Code and the plugins.
 * Fetches nothing:
 *
 *     npm run corpus:hooks -- <folder>
 *
 * The folder contains repositories as `<owner>+<name>`, as for `npm run corpus`. Plugins that it lacks are left out. The
 * scripts of the plugins need `git`, `jq` and `python3`, and run with a temporary home directory.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contexts } from './hooks/contexts.js';
import { fire } from './hooks/fire.js';
import { guards } from './hooks/guards.js';
import { loops } from './hooks/loops.js';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: npm run corpus:hooks -- <folder>');
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'keelson-hooks-'));

/** Replaces the home directory, and adds a `gh` to the PATH, without which one plugin does nothing. */
function prepareEnvironment(): void {
  for (const name of ['home', 'bin']) mkdirSync(join(scratch, name));
  const gh = join(scratch, 'bin', 'gh');
  writeFileSync(gh, '#!/bin/sh\n');
  chmodSync(gh, 0o755);
  for (const key of Object.keys(process.env)) if (/^(?:CLAUDE|npm_)/.test(key)) delete process.env[key];
  process.env.HOME = join(scratch, 'home');
  process.env.PATH = `${join(scratch, 'bin')}:${process.env.PATH}`;
}

prepareEnvironment();
const count = { cases: 0, different: 0 };
const missing = new Set<string>();
const seen = new Set<string>();
for (const [plugin, cases] of [guards, loops, contexts].flatMap((group) => Object.entries(group))) {
  const path = join(folder, plugin);
  if (!existsSync(path)) {
    missing.add(plugin);
    continue;
  }
  seen.add(plugin);
  for (const one of cases) {
    const found = await fire(path, one, scratch).catch((error: Error) => [`it failed with ${error.message}`]);
    count.cases += 1;
    if (found.length > 0) count.different += 1;
    const first = one.answers[0];
    const use = typeof first === 'string' ? `answer ${first}` : JSON.stringify(first);
    console.log(`${found.length > 0 ? 'DIFFERENT  ' : 'as expected'} ${plugin} ${use}`);
    for (const difference of found) console.log(`    ${difference}`);
  }
}
// A hook in the background may still write to its home directory.
rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
for (const plugin of missing) console.log(`not in the folder: ${plugin}`);
console.log(`${count.cases - count.different} of ${count.cases} cases of ${seen.size} plugins as expected`);
process.exit(count.different === 0 && count.cases > 0 ? 0 : 1);
