import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { HomeWriteError } from './home-write-error.js';
import { findRealHomes, snapshotOf } from './real-homes.js';

const HOME = Symbol.for('keelson.test-home');

/** Variables that programs take the home directory or their user directories from. */
const VARIABLES = {
  ...{ HOME: '', USERPROFILE: '', APPDATA: 'config', LOCALAPPDATA: 'cache' },
  ...{ XDG_CONFIG_HOME: 'config', XDG_DATA_HOME: 'data', XDG_STATE_HOME: 'state', XDG_CACHE_HOME: 'cache' },
};

/** The temporary home of a run of the tests, and the number of projects that use it. */
interface SharedHome {
  readonly homes: readonly string[];
  readonly close: () => void;
  users: number;
}

// Global, because Vitest loads this module once for each project.
const shared = globalThis as { [HOME]?: SharedHome | undefined };

/** Global setup of all tests: gives test workers and their child processes a temporary home directory. */
export function setup(project: TestProject): void {
  shared[HOME] ??= moveHome();
  shared[HOME].users += 1;
  project.provide('realHomes', shared[HOME].homes);
}

/** Throws a `HomeWriteError` if the state directories of the real home have changed. */
export function teardown(): void {
  const home = shared[HOME];
  if (home === undefined) return;
  home.users -= 1;
  if (home.users > 0) return;
  shared[HOME] = undefined;
  home.close();
}

function moveHome(): SharedHome {
  const homes = findRealHomes();
  const before = snapshotOf(homes);
  keepNpm(homes);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-test-home-')));
  for (const [name, path] of Object.entries(VARIABLES)) process.env[name] = join(folder, path);
  const close = () => {
    rmSync(folder, { recursive: true, force: true });
    const changed = snapshotOf(homes).filter((line) => !before.includes(line));
    if (changed.length === 0) return;
    // Vitest logs an error of a teardown, and then exits with code 0.
    process.exitCode = 1;
    throw new HomeWriteError(changed);
  };
  return { homes, close, users: 0 };
}

/** Some tests pack the package with npm, which must not lose its cache and its configuration. */
function keepNpm([home = '']: readonly string[]): void {
  const [cache, config] = [join(home, '.npm'), join(home, '.npmrc')];
  if (existsSync(cache)) process.env.npm_config_cache ??= cache;
  if (existsSync(config)) process.env.npm_config_userconfig ??= config;
}
