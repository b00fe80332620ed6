import { readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/** Where a process finds its own folder: another place for each. */
const OWN_PLACE = /^\/proc\/(?:.*\/)?cwd(?:\/|$)/;
/** More than any path has names, with 40 links on its way. */
const MOST_STEPS = 100_000;

/** Whether the text of an absolute path names what is another place for each process. */
export function isOwnPlace(path: string): boolean {
  return OWN_PLACE.test(path);
}

/** Whether an absolute path leads by such a place, through whatever links. */
export function leadsByOwnPlace(path: string): boolean {
  const left = path.split('/').reverse();
  let at = '/';
  for (let steps = 0; left.length > 0; steps += 1) {
    const name = left.pop();
    if (steps > MOST_STEPS) return true;
    if (name === '' || name === '.') continue;
    const next = name === '..' ? dirname(at) : `${at === '/' ? '' : at}/${name}`;
    if (isOwnPlace(next)) return true;
    const target = name === '..' ? undefined : readLink(next);
    if (target !== undefined) left.push(...target.split('/').reverse());
    if (target === undefined) at = next;
    else if (target.startsWith('/')) at = '/';
  }
  return false;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
