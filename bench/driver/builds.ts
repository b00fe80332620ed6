import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BuildOptions, build, transform } from 'esbuild';
import { ensureBuilt } from '../../scripts/ensure-built.mjs';
import { type Edited, editSources, withoutDispatch } from './without-dispatch.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The URLs of the measured builds. */
export interface Builds {
  /** A copy of `dist`, so that a rebuild during the measurement has no effect. */
  readonly shipped: string;
  /** The unchanged sources, bundled with the same options as the next two builds. */
  readonly whole: string;
  /** The sources without the dispatch of hooks. */
  readonly bare: string;
  /** A control: `bare` with one object allocated per run. */
  readonly leaking: string;
  /** The number of places from which dispatch was removed. */
  readonly places: number;
  remove(): void;
}

/** Creates the builds in a new directory under `node_modules`, where their imports are resolved. */
export async function makeBuilds(): Promise<Builds> {
  ensureBuilt();
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'keelson-bench-'));
  const remove = () => rmSync(folder, { recursive: true });
  try {
    cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
    const sources = join(root, 'src', 'agent');
    const bare = withoutDispatch(sources, '');
    return {
      shipped: pathToFileURL(join(folder, 'dist', 'index.js')).href,
      whole: await bundle(join(folder, 'whole.mjs')),
      bare: await bundleBare(join(folder, 'bare.mjs'), bare),
      leaking: await bundleBare(join(folder, 'leaking.mjs'), withoutDispatch(sources, 'globalThis.leaked = {};')),
      places: bare.places,
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function bundle(outfile: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src/index.ts')],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    packages: 'external',
    minifySyntax: true,
    logLevel: 'error',
    write: false,
    ...options,
  });
  // A second pass removes code after a `return` that the first pass created.
  const { code } = await transform(outputFiles?.[0]?.text ?? '', { minifySyntax: true, target: 'es2022' });
  writeFileSync(outfile, code);
  return pathToFileURL(outfile).href;
}

/** Dead code after a `return`: the rest of a removed call. */
const CALL = /.*(?<!function )\b(runThread|(?<!\.)wrapModelCall|(?<!\.)wrapToolCall)\((?!void 0\b).*/;

async function bundleBare(outfile: string, edited: Edited): Promise<string> {
  const url = await bundle(outfile, { define: edited.constants, plugins: [editSources(edited)] });
  const left = CALL.exec(readFileSync(outfile, 'utf8'));
  if (left !== null)
    throw new Error(`The build without dispatch must not read hook points, but still contains: ${left[0].trim()}`);
  return url;
}
