import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { HomeWriteError } from './home-write-error.js';
import { findRealHomes, snapshotOf } from './real-homes.js';

/** Variables that programs take the home directory or their user directories from. */
const VARIABLES = {
  ...{ HOME: '', USERPROFILE: '', APPDATA: 'config', LOCALAPPDATA: 'cache' },
  ...{ XDG_CONFIG_HOME: 'config', XDG_DATA_HOME: 'data', XDG_STATE_HOME: 'state', XDG_CACHE_HOME: 'cache' },
};

/** The temporary home of this run. All projects of a run share it. */
let shared: { readonly homes: readonly string[]; readonly close: () => void } | undefined;
let users = 0;

/** Global setup of all tests: gives test workers and their child processes a temporary home directory. */
export function setup(project: TestProject): void {
  shared ??= moveHome();
  users += 1;
  project.provide('realHomes', shared.homes);
}

/** Throws a `HomeWriteError` if the state directories of the real home have changed. */
export function teardown(): void {
  users -= 1;
  if (users === 0) shared?.close();
}

function moveHome() {
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
  return { homes, close };
}

/** Some tests pack the package with npm, which must not lose its cache and its configuration. */
function keepNpm([home = '']: readonly string[]): void {
  const [cache, config] = [join(home, '.npm'), join(home, '.npmrc')];
  if (existsSync(cache)) process.env.npm_config_cache ??= cache;
  if (existsSync(config)) process.env.npm_config_userconfig ??= config;
}
