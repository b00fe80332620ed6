import { isAbsolute, join, resolve } from 'node:path';
import { homeFolder } from '../process/files/home-folder.js';
import { isInside, realLocation } from '../process/files/location.js';

/** Where this library and others read what to run, import or connect to; in the workspace and in the home folder. */
const CONFIGURATION: readonly string[] = [
  ...['.mcp.json', 'gemini-extension.json', '.env', '.envrc'],
  ...['.claude', '.claude.json', '.claude-plugin', '.gemini', '.codex', '.cursor', '.agents', '.copilot'],
  ...['.github/hooks', '.github/copilot', '.vscode', '.git/hooks', '.git/config', '.gitmodules'],
];

/** What a guard needs to know of the place. */
export interface ProtectedPlace {
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** The name of the folder of configuration in the workspace, such as `.keelson`. */
  readonly folder: string;
}

/**
 * Tells the paths that decide what runs, whether they exist or not: a tool that writes there changes what is trusted.
 * Links are followed, and upper and lower case are the same, since on some disks they are.
 */
export function createPathGuard({ workspaceDir, stateDir, folder }: ProtectedPlace): (path: string) => boolean {
  const places = [workspaceDir, homeFolder()].filter((place) => place !== undefined);
  const roots = [stateDir, ...places.flatMap((place) => [folder, ...CONFIGURATION].map((name) => join(place, name)))];
  return (path) => {
    const named = resolve(workspaceDir, path);
    const followed = realLocation(isAbsolute(path) ? path : `${workspaceDir}/${path}`);
    // Looked up anew: what was absent may have become a link.
    const forbidden = roots.flatMap((root) => [root, realLocation(root)]).map(fold);
    return [named, followed].map(fold).some((place) => forbidden.some((root) => isInside(place, root)));
  };
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
