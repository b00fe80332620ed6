import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Home directories that no test may write to. */
    readonly realHomes: readonly string[];
  }
}

/** Names in the directory in which Keelson keeps the state of a user. */
const STATE = ['trusted-hooks.json', 'extensions-enabled.json', 'extension-data', 'sessions'];

/** Returns the home directory of the account, and the directory that HOME names now. */
export function findRealHomes(): readonly string[] {
  const homes = [homedir(), userInfo().homedir].filter((home) => home !== '/' && existsSync(home));
  return [...new Set(homes.map((home) => realpathSync(home)))];
}

/**
 * Returns the path, time of change and size of every file in the state directories of these homes. Two equal snapshots
 * mean that nothing was written between them.
 */
export function snapshotOf(homes: readonly string[]): readonly string[] {
  return homes.flatMap((home) => stateFolders(home).flatMap(entriesOf)).sort();
}

function stateFolders(home: string): readonly string[] {
  const folders = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const paths = folders.filter(({ name }) => name.startsWith('.')).map(({ name }) => join(home, name));
  return paths.filter((path) => path.endsWith('.keelson') || STATE.some((name) => existsSync(join(path, name))));
}

function entriesOf(path: string): readonly string[] {
  const { mtime, size } = statSync(path);
  const own = `${path} ${mtime.toISOString()} ${size}`;
  const entries = statSync(path).isDirectory() ? readdirSync(path) : [];
  return [own, ...entries.flatMap((name) => entriesOf(join(path, name)))];
}
