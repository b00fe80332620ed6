import { fileURLToPath } from 'node:url';

/**
 * Returns the program of the worker thread, with its dependencies. The build calls this function, and puts the string in
 * its place: a file beside the code would be lost in bundles.
 */
export async function workerSource(): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./schema-worker.ts', import.meta.url))],
    ...{ bundle: true, minify: true, write: false, format: 'iife', target: 'es2022' },
  });
  return outputFiles.map(({ text }) => text).join('');
}
