import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, inject } from 'vitest';
import { isInside, realLocation } from '../../../src/process/files/location.js';
import { HomeWriteError } from './home-write-error.js';

/** Functions that write, and the positions of the paths that they write to. Each has a `Sync` and a promise variant. */
const WRITERS: Readonly<Record<string, readonly number[]>> = {
  ...{ appendFile: [0], chmod: [0], chown: [0], createWriteStream: [0], lchown: [0], lutimes: [0], mkdir: [0] },
  ...{ mkdtemp: [0], rm: [0], rmdir: [0], truncate: [0], unlink: [0], utimes: [0], writeFile: [0], open: [0] },
  ...{ copyFile: [1], cp: [1], link: [1], rename: [0, 1], symlink: [1] },
};
const REFUSED = Symbol.for('keelson.refused-paths');
const CHANGES = fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_TRUNC;

type Call = (...args: readonly unknown[]) => unknown;

const homes = inject('realHomes');
// A checkout or the directory for temporary files may lie in the home directory.
const allowed = [process.cwd(), tmpdir()].map((path) => realLocation(path));

// Global, because each test file of a worker runs this module again, and a worker needs one guard.
const worker = globalThis as { [REFUSED]?: string[] };
const isGuarded = worker[REFUSED] !== undefined;
worker[REFUSED] ??= [];
const refused = worker[REFUSED];

if (!isGuarded) {
  guard(fs as unknown as Record<string, unknown>, (error) => {
    throw error;
  });
  guard(fs.promises as unknown as Record<string, unknown>, (error) => Promise.reject(error));
  syncBuiltinESMExports();
}

// The code under test may catch the error of the file system.
for (const after of [afterEach, afterAll]) {
  after(() => {
    const paths = refused.splice(0);
    if (paths.length > 0) throw new HomeWriteError(paths);
  });
}

function guard(target: Record<string, unknown>, fail: (error: HomeWriteError) => unknown): void {
  for (const [name, positions] of Object.entries(WRITERS)) {
    for (const variant of [name, `${name}Sync`]) {
      const call = target[variant];
      if (typeof call === 'function') target[variant] = guarded(call as Call, { name, positions, fail });
    }
  }
}

interface Guarding {
  readonly name: string;
  readonly positions: readonly number[];
  readonly fail: (error: HomeWriteError) => unknown;
}

function guarded(call: Call, { name, positions, fail }: Guarding): Call {
  const check = function (this: unknown, ...args: readonly unknown[]) {
    const paths = name === 'open' && !writes(args[1]) ? [] : positions.map((at) => pathOf(args[at]));
    const lost = paths.filter((path) => path !== undefined).filter(isInHome);
    if (lost.length === 0) return call.apply(this, args as unknown[]);
    refused.push(...lost);
    return fail(new HomeWriteError(lost));
  };
  return Object.assign(check, call);
}

function writes(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & CHANGES) !== 0;
  return typeof flags === 'string' && !['r', 'rs', 'sr'].includes(flags);
}

/** Returns the path of an argument. Undefined for a file descriptor. */
function pathOf(given: unknown): string | undefined {
  if (given instanceof URL) return fileURLToPath(given);
  if (typeof given === 'string' || Buffer.isBuffer(given)) return String(given);
  return undefined;
}

function isInHome(path: string): boolean {
  // A path with NUL is refused by the file system itself.
  if (path.includes('\0')) return false;
  const place = realLocation(resolve(path));
  return homes.some((home) => isInside(place, home)) && !allowed.some((root) => isInside(place, root));
}
