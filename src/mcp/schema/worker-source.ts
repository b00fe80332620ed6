import { fileURLToPath } from 'node:url';

/**
 * Returns the code of the worker thread, bundled with its dependencies. The build replaces this function by one that returns
 * the string: bundlers would leave out a file beside the code.
 */
export async function workerSource(): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./schema-worker.ts', import.meta.url))],
    ...{ bundle: true, minify: true, write: false, format: 'iife', target: 'es2022' },
  });
  return outputFiles.map(({ text }) => text).join('');
}
