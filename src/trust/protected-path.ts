import { dirname, isAbsolute, join, resolve } from 'node:path';
import { homeFolder } from '../process/files/home-folder.js';
import { isInside, realLocation } from '../process/files/location.js';
import type { GateSettings } from './gate-options.js';

/**
 * Files and directories in the workspace and the home directory that can make this library or other tools run
 * something.
 */
const CONFIGURATION: readonly string[] = [
  '.mcp.json',
  'gemini-extension.json',
  '.env',
  '.envrc',
  '.claude',
  '.claude.json',
  '.claude-plugin',
  '.gemini',
  '.codex',
  '.cursor',
  '.agents',
  '.copilot',
  '.github/hooks',
  '.github/copilot',
  '.vscode',
  '.git/hooks',
  '.git/config',
  '.gitmodules',
];

/**
 * Returns a function that tells if a path is protected: a tool that writes there would change what is trusted. Also
 * detects paths that are missing.
 *
 * Follows links. Ignores case, because some file systems do.
 */
export function createPathGuard({ place, folder: ofApp }: GateSettings): (path: string) => boolean {
  const { workspaceDir, stateDir } = place;
  const places = [workspaceDir, homeFolder()].filter((place) => place !== undefined);
  const roots = [stateDir, ...places.flatMap((place) => [ofApp, ...CONFIGURATION].map((name) => join(place, name)))];
  // A tool that replaces `.git` as a whole replaces `.git/hooks`.
  const inFolder = CONFIGURATION.filter((name) => name.includes('/'));
  const holders = new Set(places.flatMap((place) => inFolder.map((name) => fold(join(place, dirname(name))))));
  return (path) => {
    const named = resolve(workspaceDir, path);
    const followed = realLocation(isAbsolute(path) ? path : `${workspaceDir}/${path}`);
    // Resolved on each call, because a missing path may have become a link.
    const forbidden = roots.flatMap((root) => [root, realLocation(root)]).map(fold);
    return [named, followed]
      .map(fold)
      .some((place) => forbidden.some((root) => isInside(place, root)) || holders.has(place));
  };
}

/** Compares in upper case, because file systems that ignore case treat `ſ` as `s`. */
function fold(path: string): string {
  return path.normalize('NFC').toUpperCase();
}
