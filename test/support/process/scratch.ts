import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a directory for this test, without links in its path. It is removed after the test. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-')));
  onTestFinished(() => {
    unlock(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Makes all directories writable, so that they can be emptied. */
export function unlock(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) unlock(join(folder, entry.name));
  }
}

/** Writes a file and creates its parent directories. Returns its path. */
export function write(path: string, text: string | Buffer, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** Writes an executable file. Returns its path. */
export function script(path: string, text: string): string {
  return write(path, text, 0o755);
}
