import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildResult, build } from 'esbuild';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const STARTS = 8;

/** A process that imports the library against one that does not. Of several starts the shortest counts. */
export async function measureImport({ builds, race }: Setting): Promise<Figure[]> {
  startMs(importOf(builds.shipped));
  const bare: number[] = [];
  const withLibrary: number[] = [];
  for (let round = 0; round < race.rounds; round++) {
    const starts = Array.from({ length: STARTS }, () => [startMs(''), startMs(importOf(builds.shipped))] as const);
    bare.push(Math.min(...starts.map(([without]) => without)));
    withLibrary.push(Math.min(...starts.map(([, withIt]) => withIt)));
  }
  const ratios = withLibrary.map((ms, round) => ms / (bare[round] as number));
  const note = `${digits(median(withLibrary))} ms against ${digits(median(bare))}`;
  return [figureOf(ratios, { name: 'import against bare Node', unit: '×', bound: 1.3, note })];
}

function importOf(url: string): string {
  return `import ${JSON.stringify(url)}`;
}

function startMs(source: string): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source]);
  if (status !== 0) throw new Error(`The import failed: ${stderr}`);
  return performance.now() - start;
}

/** Size of a bundle of `import 'keelson'` with its dependencies, without chunks that are loaded later. */
export async function measureBundle({ builds }: Setting): Promise<Figure[]> {
  const result = await build({
    entryPoints: [fileURLToPath(builds.shipped)],
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    outdir: '/bundle',
    write: false,
    metafile: true,
  });
  const text = eagerFiles(result);
  const size = text.reduce((sum, bytes) => sum + bytes.length, 0);
  const packed = text.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  const note = `${digits(size / 1000)} kB minified`;
  return [{ name: 'core, min + gzip', value: packed / 1000, unit: 'kB', bound: 42, note }];
}

/** Returns the entry and the chunks that it imports statically. */
function eagerFiles({ metafile, outputFiles }: BuildResult<{ metafile: true; write: false }>): Uint8Array[] {
  const outputs = Object.entries(metafile.outputs);
  const eager = new Set(outputs.map(([name]) => name).filter((name) => basename(name) === 'index.js'));
  for (const name of eager) {
    const imports = metafile.outputs[name]?.imports ?? [];
    for (const { path, kind } of imports) if (kind === 'import-statement') eager.add(path);
  }
  const names = [...eager].map((name) => basename(name));
  return outputFiles.filter(({ path }) => names.includes(basename(path))).map(({ contents }) => contents);
}
