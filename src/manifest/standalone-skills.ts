import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isInside, realLocation } from '../process/location.js';
import type { TrustGate } from '../trust/trust-gate.js';
import type { ExtensionScope } from './extension.js';
import { GatedFolder } from './gated-folder.js';
import type { ManifestDiagnostic } from './manifest-problem.js';
import { resolveInside } from './relative-path.js';
import type { SkillEntry } from './skill.js';
import { SKILL_FILE } from './skill-file.js';
import { loadFolderSkill } from './skill-folder.js';

/** Where skills that belong to no extension are looked for. */
export interface StandaloneSkillOptions {
  readonly gate: TrustGate;
  readonly workspaceDir: string;
  /** Folders that hold folders with a SKILL.md, the user's first. */
  readonly roots: readonly { readonly scope: ExtensionScope; readonly folder: string }[];
}

/** What was found. */
export interface StandaloneSkills {
  readonly entries: readonly SkillEntry[];
  /** Folders of skills that are not approved. */
  readonly denied: readonly string[];
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** Loads the skills of the user and of the workspace. Of two with one name that of the workspace is taken. */
export async function loadStandaloneSkills(options: StandaloneSkillOptions): Promise<StandaloneSkills> {
  const byId = new Map<string, SkillEntry>();
  const denied: string[] = [];
  const diagnostics: ManifestDiagnostic[] = [];
  for (const { folder, scope } of await findFolders(options)) {
    const item = {
      kind: 'skill',
      scope,
      name: basename(folder),
      source: join(folder, SKILL_FILE),
      root: folder,
    } as const;
    const gated = new GatedFolder(options.gate, item);
    const { entry, isDenied, diagnostics: told } = await loadFolderSkill({ gated, path: '.', folder, scope });
    diagnostics.push(...told);
    if (isDenied) denied.push(folder);
    if (entry === undefined) continue;
    const before = byId.get(entry.skill.id);
    if (before !== undefined) diagnostics.push(shadowed(entry, before));
    if (before === undefined || before.skill.scope === 'user') byId.set(entry.skill.id, entry);
  }
  return { entries: [...byId.values()], denied, diagnostics };
}

interface Folder {
  readonly folder: string;
  readonly scope: ExtensionScope;
}

/** Each folder once, by where it really is. A link of the workspace may lead to another place in there, and no further. */
async function findFolders({ roots, workspaceDir }: StandaloneSkillOptions): Promise<readonly Folder[]> {
  const workspace = realLocation(workspaceDir);
  const found = new Map<string, Folder>();
  for (const { scope, folder } of roots) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort()) {
      const path = await realpath(join(folder, name)).catch(() => undefined);
      if (path === undefined || found.has(path) || (await resolveInside(path, SKILL_FILE)) === undefined) continue;
      const isOfWorkspace = isInside(path, workspace);
      if (scope === 'workspace' && !isOfWorkspace) continue;
      found.set(path, { folder: path, scope: isOfWorkspace ? 'workspace' : scope });
    }
  }
  return [...found.values()];
}

function shadowed({ skill }: SkillEntry, { skill: before }: SkillEntry): ManifestDiagnostic {
  const [taken, left] = before.scope === 'user' ? [skill, before] : [before, skill];
  const message = `The skill "${skill.id}" is there twice: ${taken.source} is taken, and ${left.source} is not.`;
  return { level: 'warning', message, source: left.source, problems: [{ path: 'name', message: 'it is taken' }] };
}
