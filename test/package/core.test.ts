import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { expect, test } from 'vitest';
import { LAZY_CORE, readEntries } from '../../scripts/entries.mjs';

/** The same limit as in `bench/measure/footprint.ts`. See docs/decisions/0011-core-in-one-file.md before raising it. */
const MAX_BYTES = 42_000;
const entry = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

async function bundle(options: BuildOptions) {
  const result = await build({
    ...options,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    splitting: true,
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  return { outputs: result.metafile.outputs, files: result.outputFiles };
}

type Bundle = Awaited<ReturnType<typeof bundle>>;

/** Returns the chunks that load with the entry point: all except those behind an `import()`. */
function initialChunks({ outputs }: Bundle): string[] {
  const loaded = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint?.endsWith('dist/index.js')));
  for (const path of loaded) {
    for (const chunk of outputs[path]?.imports ?? []) if (chunk.kind === 'import-statement') loaded.add(chunk.path);
  }
  return [...loaded];
}

test.each(['index', 'core'])('dist/%s.js imports no shared chunk, to keep loading fast', (name) => {
  const source = readFileSync(new URL(`../../dist/${name}.js`, import.meta.url), 'utf8');
  const imported = [...source.matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => path);

  expect(new Set(imported)).toEqual(new Set(name === 'index' ? ['./core.js'] : []));
});

test('each module that the core loads on first use is in the package', () => {
  const source = readFileSync(new URL('../../dist/core.js', import.meta.url), 'utf8');
  const loaded = [...source.matchAll(/import\("\.\/(.*?)\.js"\)/g)].map(([, name]) => name);

  expect(new Set(loaded)).toEqual(new Set(Object.keys(LAZY_CORE)));
});

// esbuild fails if an import cannot be resolved for a platform. External imports are listed in the result.
test.each<[string, BuildOptions]>([
  ['browsers', { platform: 'browser' }],
  ['workers', { platform: 'neutral', mainFields: ['module', 'main'], conditions: ['workerd', 'worker', 'browser'] }],
])('the core can be bundled for %s without imports from Node', async (_platform, options) => {
  const { outputs } = await bundle(options);
  const imports = Object.values(outputs).flatMap((output) => output.imports);

  expect(imports.filter(({ external }) => external)).toEqual([]);
});

test('the core with its dependencies stays within its size limit when minified and compressed', async () => {
  const bundled = await bundle({ platform: 'browser' });
  const chunks = initialChunks(bundled);
  const texts = bundled.files.filter(({ path }) => chunks.some((chunk) => path.endsWith(chunk)));
  const bytes = texts.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);

  expect(texts).toHaveLength(chunks.length);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
});

test('only keelson/durable contains or imports code for durable engines', async () => {
  const engines = /src\/durable\/|@restatedev|@dbos-inc/;
  const entries = readEntries();
  const loaders = entries.map(async ({ source, specifier }) => {
    const options: BuildOptions = {
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      outdir: 'out',
    };
    const { metafile } = await build({ ...options, entryPoints: [source], write: false, metafile: true });
    return engines.test(JSON.stringify(metafile.inputs)) ? specifier : undefined;
  });

  expect((await Promise.all(loaders)).filter(Boolean)).toEqual(['keelson/durable']);
});
