import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test } from 'vitest';

const NORMAL_USER = 65_534;
const vitest = join('node_modules', 'vitest', 'vitest.mjs');

/** Runs a Node program as a user without the rights of root. */
function runAsNormalUser(args: readonly string[]): SpawnSyncReturns<string> {
  const home = mkdtempSync(join(tmpdir(), 'keelson-user-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  chownSync(home, NORMAL_USER, NORMAL_USER);
  const { PATH = '', CI = '' } = process.env;
  const env = { PATH, CI, HOME: home, TMPDIR: home };
  return spawnSync(process.execPath, args, { encoding: 'utf8', env, uid: NORMAL_USER, gid: NORMAL_USER });
}

/** Returns the reason why the tests cannot run as another user, if there is one. */
function obstacle(): string | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const { error, stderr } = runAsNormalUser(['--eval', `require('node:fs').accessSync('${vitest}')`]);
  return error?.message ?? (stderr.trim() || undefined);
}

function skipUnlessRoot({ skip }: TestContext): void {
  skip(process.geteuid?.() !== 0, 'this run already lacks the rights of root');
  const found = obstacle();
  skip(found !== undefined && !process.env.CI, `another user cannot run the tests: ${found}`);
}

test('the trust tests pass without the rights of root', { timeout: 300_000 }, (context) => {
  skipUnlessRoot(context);
  // The default loader of the configuration writes into node_modules.
  const options = ['--project=!package', '--maxWorkers', '1', '--configLoader', 'runner'];
  const { stdout, stderr, status } = runAsNormalUser([vitest, 'run', 'test/trust', ...options]);
  const [, passed] = /^(\d+) passed, 0 failed/m.exec(stdout) ?? [];

  expect(status, stdout + stderr).toBe(0);
  expect(Number(passed)).toBeGreaterThan(300);
});
