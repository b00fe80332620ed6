import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { afterAll } from 'vitest';
import { SOURCE, sourceModule } from '../../../scripts/source-module.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Bundles a TypeScript program with the modules of Keelson that it imports. A test file calls it outside of its tests.
 * Returns the path of the result, which is removed after the tests. Node starts it in a fifth of the time that a program
 * with a transforming loader takes. With `isWhole`, the result contains the packages too, so that another user can start
 * it, who may not read this project.
 */
export async function bundle(program: string, isWhole = false): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-program-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const outfile = join(folder, 'program.mjs');
  await build({
    ...{ entryPoints: [program], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' },
    ...{ packages: isWhole ? 'bundle' : 'external', tsconfig: join(root, 'tsconfig.json'), logLevel: 'warning' },
    plugins: [programsInStrings],
  });
  return outfile;
}

/** As in the build of the package. The worker thread of MCP schema checks has no file beside the program. */
const programsInStrings: Plugin = {
  name: 'programs-in-strings',
  setup(builder) {
    builder.onLoad({ filter: SOURCE }, async ({ path }) => ({ contents: await sourceModule(path), loader: 'ts' }));
  },
};
