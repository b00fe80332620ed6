import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { readText } from '../process/files/file-bytes.js';
import { problemOfRelativePath, resolveInside } from '../process/files/relative-path.js';
import { SKILL_FILE } from './file.js';

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 200;
const MAX_DEPTH = 4;
/** Directories that tools create, not the author of a skill. */
const TOOLING = ['.git', 'node_modules', '__pycache__'];

/** The directory of a skill. Links in `folder` may lead to any file inside `root`. */
export interface SkillFolder {
  readonly folder: string;
  /** Default: `folder`. */
  readonly root?: string | undefined;
}

/** Returns the content of a file of a skill, or the reason why it cannot be read. `..` cannot leave the directory. */
export async function readSkillResource(
  { folder, root = folder }: SkillFolder,
  path: string,
): Promise<{ text: string } | { problem: string }> {
  const problem = problemOfRelativePath(path);
  if (problem !== undefined) return { problem };
  const found = await resolveInside(root, relative(root, join(folder, path)));
  if (found === undefined) return { problem: 'the file must exist in the directory of the skill' };
  return readText(found, MAX_BYTES);
}

/** Returns the paths of the files in a skill's directory except SKILL.md, sorted, at most 200. */
export async function listSkillFiles({ folder, root = folder }: SkillFolder): Promise<readonly string[]> {
  const found: string[] = [];
  const visit = async (path: string, depth: number): Promise<void> => {
    if (found.length >= MAX_FILES) return;
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (TOOLING.includes(entry.name)) continue;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      const type = entry.isSymbolicLink() ? await targetOf(inner) : entry;
      // The depth also bounds links that form a cycle.
      if (type?.isDirectory() && depth < MAX_DEPTH) await visit(inner, depth + 1);
      else if (type?.isFile() && inner !== SKILL_FILE && found.length < MAX_FILES) found.push(inner);
    }
  };
  const targetOf = async (path: string) => {
    const target = await resolveInside(root, relative(root, join(folder, path)));
    return target === undefined ? undefined : stat(target);
  };
  await visit('', 1);
  return found;
}
