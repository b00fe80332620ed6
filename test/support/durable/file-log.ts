import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Work, WorkLog } from './errand.js';

/** Records work in a file, which a killed process leaves whole. */
export function fileLog(path: string): WorkLog {
  return {
    add: (work) => appendFileSync(path, `${JSON.stringify(work)}\n`),
    all: () => linesOf(path).map((line): Work => JSON.parse(line)),
  };
}

/** Returns the lines of a file. A missing file has none. */
export function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}
