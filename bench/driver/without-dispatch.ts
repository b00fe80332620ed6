import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** The hook points that a run checks even without lifecycles. */
const POINTS = [
  'beforeAgent',
  'beforeModel',
  'beforeToolSelection',
  'wrapModelCall',
  'afterModel',
  'wrapToolCall',
  'afterAgent',
];
const POINT = POINTS.join('|');
const DESTRUCTURED = /const \{([^{}]*)\} = ([\w.]*\bchain);/g;
const NAMED = new RegExp(`const (\\w+) = [\\w.]*\\bchain\\.(${POINT});`, 'g');
const READ = new RegExp(`[\\w.]*\\bchain\\.(${POINT})\\b`, 'g');
const LEFT = new RegExp(`\\.(${POINT})\\b|\\{[^{}]*\\b(${POINT})\\b[^{}]*\\} =`);

/** Source files without the dispatch of hooks. */
export interface Edited {
  readonly files: ReadonlyMap<string, string>;
  /** Names of hook points in the sources, which the bundler replaces with `undefined`. */
  readonly constants: Readonly<Record<string, string>>;
  readonly places: number;
}

/**
 * Removes the checks for hook points: each read of a point from the chain becomes `undefined`, and the bundler drops
 * the dependent code.
 * Throws if a point is never read, or is read in an unknown form. `planted` replaces the first hook of a run.
 */
export function withoutDispatch(folder: string, planted: string): Edited {
  const files = new Map<string, string>();
  const constants: Record<string, string> = {};
  const seen: string[] = [];
  const take = (name: string, point: string) => {
    seen.push(point);
    constants[name] = 'undefined';
    return point === 'beforeAgent' ? planted : '';
  };
  for (const file of readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'))) {
    const path = join(folder, file);
    const source = readFileSync(path, 'utf8')
      .replace(DESTRUCTURED, (_all, names: string, chain: string) => splitNames(names, chain, take))
      .replace(NAMED, (_all, name: string, point: string) => take(name, point))
      .replace(READ, (_all, point: string) => {
        seen.push(point);
        return 'undefined';
      });
    const left = LEFT.exec(source);
    if (left !== null) throw new Error(`${file} must read hook points in a known form, got: ${left[0]}`);
    files.set(path, source);
  }
  const missing = POINTS.filter((point) => !seen.includes(point));
  if (missing.length > 0)
    throw new Error(`The run loop must read all hook points of its chain, but never reads ${missing}.`);
  if (constants.beforeAgent === undefined)
    throw new Error('The run loop must read `beforeAgent` into a constant, since the control is planted there.');
  return { files, constants, places: seen.length };
}

function splitNames(names: string, chain: string, take: (name: string, point: string) => string): string {
  const statements = names.split(',').map((name) => {
    const read = name.trim();
    return POINTS.includes(read) ? take(read, read) : `const { ${read} } = ${chain};`;
  });
  return statements.join(' ');
}

/** Passes the edited files to the bundler instead of the files on disk. */
export function editSources({ files }: Edited): Plugin {
  return {
    name: 'without-dispatch',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = files.get(path);
        return contents === undefined ? undefined : { contents, loader: 'ts' };
      });
    },
  };
}
