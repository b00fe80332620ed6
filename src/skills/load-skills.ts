import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { boolean, fullText, group, listOf, oneOf, required, withMethods } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { diagnosticOf, type ManifestDiagnostic } from '../internal/problem.js';
import { isInside } from '../process/files/location.js';
import { isThere, resolveInside } from '../process/files/relative-path.js';
import { workspaceRoots } from '../process/files/workspace.js';
import type { TrustGate } from '../trust/gate.js';
import { withDistinctIds } from './distinct-ids.js';
import { SKILL_FILE } from './file.js';
import { firstOfEach } from './first-of-each.js';
import { loadFolderSkill } from './folder.js';
import { gatedFolder } from './gated-folder.js';
import type { SkillEntry, SkillScope } from './skill.js';

/** Options for loading skills that belong to no extension package. */
export interface LoadSkillsOptions {
  /** Decides whether skills from the workspace may be used. */
  readonly gate: TrustGate;
  readonly workspaceDir: string;
  /** The directories, the user's first. */
  readonly roots: readonly SkillRoot[];
}

/** A directory whose subdirectories hold a SKILL.md. */
export interface SkillRoot {
  readonly scope: SkillScope;
  readonly folder: string;
  /**
   * True if the front matter and the description of a skill may be missing, as in Claude Code. The first paragraph then
   * describes the skill. Default: true for a directory `.claude/skills`.
   */
  readonly describesItself?: boolean | undefined;
}

const rules = {
  gate: required(withMethods('authorize', 'verify')),
  workspaceDir: required(fullText),
  roots: required(
    listOf(
      group({
        scope: required(oneOf('user', 'workspace')),
        folder: required(fullText),
        describesItself: boolean,
      } satisfies OptionTable<SkillRoot>),
    ),
  ),
} satisfies OptionTable<LoadSkillsOptions>;

/** The loaded skills, and the problems with other skills. */
export interface LoadedSkills {
  readonly entries: readonly SkillEntry[];
  /** Directories of skills that are not approved. */
  readonly denied: readonly string[];
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/**
 * Loads the skills of the user and of the workspace. If two skills have the same id, the skill of the workspace is
 * used. If several skills of one scope have the same name, their ids contain the names of their directories.
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
  validateOptions(options, rules);
  const loaded: LoadedSkill[] = [];
  const denied: string[] = [];
  const { folders, diagnostics } = await findFolders(options);
  for (const { folder, ...place } of folders) {
    const item = {
      kind: 'skill',
      scope: place.scope,
      name: basename(folder),
      source: join(folder, SKILL_FILE),
    } as const;
    const open = gatedFolder(options.gate, { ...item, root: folder });
    const {
      entry,
      text = '',
      isDenied,
      diagnostics: found,
    } = await loadFolderSkill({ ...place, open, path: '.', folder });
    diagnostics.push(...found);
    if (isDenied) denied.push(folder);
    if (entry !== undefined) loaded.push({ entry, text });
  }
  const distinct = firstOfEach(loaded, originOf, (copy, used) => diagnostics.push(copyOf(copy.entry, used.entry)));
  // As in the Agent Skills standard, a skill of the project takes precedence over a user's skill of the same name.
  const ordered = (['workspace', 'user'] as const).flatMap((scope) =>
    withDistinctIds(distinct.flatMap(({ entry }) => (entry.skill.scope === scope ? [entry] : []))),
  );
  const idOf = ({ skill }: SkillEntry) => skill.id;
  const entries = firstOfEach(ordered, idOf, (entry, holder) => diagnostics.push(shadowed(entry, holder)));
  return { entries, denied, diagnostics };
}

interface LoadedSkill {
  readonly entry: SkillEntry;
  readonly text: string;
}

/** Returns the same string for a skill and its copy in the directory of another program. */
function originOf({ entry: { skill }, text }: LoadedSkill): string {
  return [skill.scope, basename(dirname(skill.source)), text].join('\n');
}

interface Folder extends Required<SkillRoot> {
  readonly describesItself: boolean;
}

/**
 * Returns each skill directory once, by its path without links. A link in the workspace must not lead outside of it.
 */
async function findFolders({ roots, workspaceDir }: LoadSkillsOptions) {
  const workspace = workspaceRoots(workspaceDir);
  const found = new Map<string, Folder>();
  const diagnostics: ManifestDiagnostic[] = [];
  for (const { scope, folder, describesItself = isOfClaude(folder) } of roots) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort()) {
      const path = await realpath(join(folder, name)).catch(() => undefined);
      if (path === undefined || found.has(path) || !(await isThere(join(path, SKILL_FILE)))) continue;
      const isOfWorkspace = workspace.some((root) => isInside(path, root));
      if (scope === 'workspace' && !isOfWorkspace) {
        diagnostics.push(leftOut(join(folder, name), `a link leads outside of the workspace, to ${path}`));
      } else if ((await resolveInside(path, SKILL_FILE)) === undefined) {
        diagnostics.push(leftOut(join(folder, name), `${SKILL_FILE} is a link that leads outside of the directory`));
      } else {
        found.set(path, { folder: path, scope: isOfWorkspace ? 'workspace' : scope, describesItself });
      }
    }
  }
  return { folders: [...found.values()], diagnostics };
}

function isOfClaude(folder: string): boolean {
  return basename(folder) === 'skills' && basename(dirname(folder)) === '.claude';
}

function leftOut(source: string, problem: string): ManifestDiagnostic {
  return diagnosticOf('warning', { source }, [{ path: '', message: `the skill is ignored: ${problem}` }]);
}

function copyOf({ skill: { source } }: SkillEntry, { skill: used }: SkillEntry): ManifestDiagnostic {
  return diagnosticOf('info', { source }, [{ path: '', message: `it is a copy of ${used.source}, which is used` }]);
}

function shadowed({ skill: { id, source } }: SkillEntry, { skill: taken }: SkillEntry): ManifestDiagnostic {
  const message = `the skill is ignored: ${taken.source} of the ${taken.scope} has the same name "${id}". Rename one of them.`;
  return diagnosticOf('warning', { source }, [{ path: 'name', message }]);
}
