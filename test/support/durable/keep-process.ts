import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { SOURCE, sourceModule } from '../../../scripts/source-module.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A process that starts again whenever it ends. */
export interface KeptProcess {
  readonly pid: () => number;
  /** Resolves when the first process has written to its standard output. */
  readonly ready: Promise<unknown>;
  close(): Promise<void>;
}

/** Runs a program of the fixtures, and starts it again whenever it ends. Its output goes to the log. */
export async function keepFixture(name: string, args: readonly string[], logPath: string): Promise<KeptProcess> {
  const program = await bundle(name);
  const kept = keep(() => spawn(process.execPath, [program, ...args], PIPED), logPath);
  const close = () => {
    rmSync(program, { force: true });
    return kept.close();
  };
  return { ...kept, close };
}

/** The output of a kept process. */
export const PIPED = { stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };

/** Starts a process, and starts it again whenever it ends. */
export function keep(start: () => ChildProcess, logPath: string): KeptProcess {
  const log = createWriteStream(logPath, { flags: 'a' });
  let isClosed = false;
  let child = start();
  const watch = () => {
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    child.once('exit', () => {
      if (isClosed) return;
      child = start();
      watch();
    });
  };
  watch();
  return {
    pid: () => child.pid as number,
    ready: once(child.stdout as NodeJS.ReadableStream, 'data'),
    async close() {
      isClosed = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Bundles a program of the fixtures, because a bundle starts faster after each kill. Returns the path of the bundle. */
async function bundle(name: string): Promise<string> {
  // Inside of the project, so that Node finds the packages.
  const outfile = join(ROOT, 'node_modules/.cache/keelson-tests', `${name}-${process.pid}.mjs`);
  const entryPoints = [join(ROOT, 'test/fixtures/durable', `${name}.ts`)];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    plugins: [workerInAString],
  });
  return outfile;
}

/** Bundles the program of the worker thread, which the bundle has no file for. */
const workerInAString: Plugin = {
  name: 'worker-in-a-string',
  setup: ({ onLoad }) =>
    onLoad({ filter: SOURCE }, async ({ path }) => ({ contents: await sourceModule(path), loader: 'ts' })),
};
