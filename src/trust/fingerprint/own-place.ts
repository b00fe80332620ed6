import { lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/** Where a process finds its own folder: another place for each. */
const OWN_PLACE = /^\/proc\/(?:.*\/)?cwd(?:\/|$)/;
/** As many as Linux follows on one way. */
const MOST_LINKS = 40;

/** Whether an absolute path leads by such a place, through whatever links, also where nothing is there for us. */
export function leadsByOwnPlace(path: string): boolean {
  const left = path.split('/').reverse();
  let at = '/';
  for (let links = 0; left.length > 0 && links <= MOST_LINKS; ) {
    const name = left.pop();
    if (name === '' || name === '.') continue;
    const next = name === '..' ? dirname(at) : `${at === '/' ? '' : at}/${name}`;
    if (OWN_PLACE.test(next)) return true;
    const target = name === '..' ? undefined : readLink(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    left.push(...target.split('/').reverse());
    if (target.startsWith('/')) at = '/';
  }
  return false;
}

function readLink(path: string): string | undefined {
  try {
    // Most are none: no error is made for each of them.
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
