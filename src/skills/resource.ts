import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../process/files/file-bytes.js';
import { problemOfRelativePath, resolveInside } from '../process/files/relative-path.js';
import { SKILL_FILE } from './file.js';

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 200;
const MAX_DEPTH = 4;
/** Folders that are no part of what an author wrote. */
const TOOLING = ['.git', 'node_modules', '__pycache__'];

/** A file of a skill as text, or why it is not read. No link and no `..` leads out of the folder. */
export async function readSkillResource(folder: string, path: string): Promise<{ text: string } | { problem: string }> {
  const problem = problemOfRelativePath(path);
  if (problem !== undefined) return { problem };
  const found = await resolveInside(folder, path);
  if (found === undefined) return { problem: 'there is no such file in the folder of the skill' };
  return readText(found, MAX_BYTES);
}

/** The files of a skill beside its SKILL.md, sorted, 200 at most. */
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
