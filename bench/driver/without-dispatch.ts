import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** The points that a run has to pass where nobody implements them. */
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

/** Source files with the dispatch of hooks taken out. */
export interface Edited {
  readonly files: ReadonlyMap<string, string>;
  /** Names that stand for a hook point in them, and that the bundler has to put `undefined` for. */
  readonly constants: Readonly<Record<string, string>>;
  readonly places: number;
}

/**
 * Takes out what the loop does to find that nobody implements a hook point: every read of one from the chain becomes
 * `undefined`, and the bundler drops what depends on it. Throws where a point is read nowhere, or in a way that is not
 * known here. `planted` comes in the place of the first hook of a run.
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
    if (left !== null) throw new Error(`${file} reads a hook point in a way that is not known here: ${left[0]}`);
    files.set(path, source);
  }
  const missing = POINTS.filter((point) => !seen.includes(point));
  if (missing.length > 0) throw new Error(`The loop reads these points of its chain nowhere: ${missing}.`);
  return { files, constants, places: seen.length };
}

function splitNames(names: string, chain: string, take: (name: string, point: string) => string): string {
  const statements = names.split(',').map((name) => {
    const read = name.trim();
    return POINTS.includes(read) ? take(read, read) : `const { ${read} } = ${chain};`;
  });
  return statements.join(' ');
}

/** Gives the bundler the edited files in place of those on the disk. */
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
