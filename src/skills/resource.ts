import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../process/files/file-bytes.js';
import { problemOfRelativePath, resolveInside } from '../process/files/relative-path.js';
import { SKILL_FILE } from './file.js';

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 200;
const MAX_DEPTH = 4;
/** Directories that tools create, not the author of a skill. */
const TOOLING = ['.git', 'node_modules', '__pycache__'];

/**
 * Returns the content of a file of a skill, or the reason why it cannot be read. Links and `..` cannot leave the
 * directory.
 */
export async function readSkillResource(folder: string, path: string): Promise<{ text: string } | { problem: string }> {
  const problem = problemOfRelativePath(path);
  if (problem !== undefined) return { problem };
  const found = await resolveInside(folder, path);
  if (found === undefined) return { problem: 'the file must exist in the directory of the skill' };
  return readText(found, MAX_BYTES);
}

/** Returns the paths of the files in a skill's directory except SKILL.md, sorted, at most 200. */
export async function listSkillFiles(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const visit = async (path: string, depth: number): Promise<void> => {
    if (found.length >= MAX_FILES) return;
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (TOOLING.includes(entry.name)) continue;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && depth < MAX_DEPTH) await visit(inner, depth + 1);
      else if (entry.isFile() && inner !== SKILL_FILE && found.length < MAX_FILES) found.push(inner);
    }
  };
  await visit('', 1);
  return found;
}
