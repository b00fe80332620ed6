import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ManifestDiagnostic } from '../internal/problem.js';
import { isInside } from '../process/files/location.js';
import { isThere, resolveInside } from '../process/files/relative-path.js';
import { workspaceRoots } from '../process/files/workspace.js';
import type { TrustGate } from '../trust/gate.js';
import { SKILL_FILE } from './file.js';
import { loadFolderSkill } from './folder.js';
import { GatedFolder } from './gated-folder.js';
import type { SkillEntry, SkillScope } from './skill.js';

/** Where skills that belong to no extension package are looked for. */
export interface LoadSkillsOptions {
  /** Asks the user about the folders of the workspace. */
  readonly gate: TrustGate;
  readonly workspaceDir: string;
  /** Folders that hold folders with a SKILL.md, the user's first. */
  readonly roots: readonly { readonly scope: SkillScope; readonly folder: string }[];
}

/** The skills of the folders, and what is wrong with others. */
export interface LoadedSkills {
  readonly entries: readonly SkillEntry[];
  /** Folders of skills that are not approved. */
  readonly denied: readonly string[];
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/**
 * Loads the skills of the user and of the workspace. If two have one name, that of the workspace is taken, else the first.
 *
 * @example
 * const workspaceDir = process.cwd();
 * const gate = createTrustGate({ workspaceDir, approve: terminalApprover() });
 * const roots = [{ scope: 'workspace', folder: `${workspaceDir}/.agents/skills` }] as const;
 * const registry = new SkillRegistry();
 * registry.replace((await loadSkills({ gate, workspaceDir, roots })).entries);
 * const agent = new Agent({ model, lifecycle: [skillLifecycle(registry)] });
 */
export async function loadSkills(options: LoadSkillsOptions): Promise<LoadedSkills> {
  const byId = new Map<string, SkillEntry>();
  const denied: string[] = [];
  const { folders, diagnostics } = await findFolders(options);
  for (const { folder, scope } of folders) {
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
    const { id } = entry.skill;
    const before = byId.get(id);
    const isTaken = before === undefined || before.skill.scope !== entry.skill.scope;
    if (isTaken) byId.set(id, entry);
    if (before !== undefined) diagnostics.push(isTaken ? shadowed(before, entry) : shadowed(entry, before));
  }
  return { entries: [...byId.values()], denied, diagnostics };
}

interface Folder {
  readonly folder: string;
  readonly scope: SkillScope;
}

/** Each folder once, by where it really is. A link of the workspace may lead to another place in there, and no further. */
async function findFolders({ roots, workspaceDir }: LoadSkillsOptions) {
  const workspace = workspaceRoots(workspaceDir);
  const found = new Map<string, Folder>();
  const diagnostics: ManifestDiagnostic[] = [];
  for (const { scope, folder } of roots) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort()) {
      const path = await realpath(join(folder, name)).catch(() => undefined);
      if (path === undefined || found.has(path) || !(await isThere(join(path, SKILL_FILE)))) continue;
      const isOfWorkspace = workspace.some((root) => isInside(path, root));
      if (scope === 'workspace' && !isOfWorkspace) {
        diagnostics.push(leftOut(join(folder, name), `it leads out of the workspace, to ${path}`));
      } else if ((await resolveInside(path, SKILL_FILE)) === undefined) {
        diagnostics.push(leftOut(join(folder, name), `its ${SKILL_FILE} leads out of it`));
      } else {
        found.set(path, { folder: path, scope: isOfWorkspace ? 'workspace' : scope });
      }
    }
  }
  return { folders: [...found.values()], diagnostics };
}

function leftOut(source: string, problem: string): ManifestDiagnostic {
  const message = `The skill in ${source} is left out: ${problem}`;
  return { level: 'error', message, source, problems: [{ path: '', message: problem }] };
}

function shadowed({ skill: left }: SkillEntry, { skill: taken }: SkillEntry): ManifestDiagnostic {
  const message = `The skill "${left.id}" is there twice: ${taken.source} is taken, and ${left.source} is not.`;
  return { level: 'warning', message, source: left.source, problems: [{ path: 'name', message: 'it is taken' }] };
}
