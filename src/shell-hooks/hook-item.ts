import { lstat, stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { isInside } from '../process/location.js';
import { EXTENSION_PATH, type TrustItem } from '../trust/trust-item.js';
import type { ShellHook } from './hook-definition.js';
import type { HookDialect } from './hook-dialect.js';

/** The variables that hold the folder of the project, and that of the extension, in each dialect. */
const FOLDER_VARIABLES: Readonly<Record<HookDialect, { project: readonly string[]; extension: readonly string[] }>> = {
  native: { project: [], extension: [] },
  claude: { project: ['CLAUDE_PROJECT_DIR'], extension: ['CLAUDE_PLUGIN_ROOT'] },
  codex: { project: ['CLAUDE_PROJECT_DIR', 'CODEX_PROJECT_DIR'], extension: ['CLAUDE_PLUGIN_ROOT'] },
  gemini: { project: ['GEMINI_PROJECT_DIR', 'GEMINI_CWD', 'CLAUDE_PROJECT_DIR', 'workspacePath'], extension: [] },
};

/** The variables of a dialect that name a folder: those of the project, then those of the extension. */
function folderVariables({ dialect, root }: ShellHook, workspaceDir: string): Record<string, string> {
  const { project, extension } = FOLDER_VARIABLES[dialect];
  return Object.fromEntries([
    ...project.map((name) => [name, workspaceDir]),
    ...(root === undefined ? [] : extension.map((name) => [name, EXTENSION_PATH])),
  ]);
}

/** A hook as the gate judges it, as it is now: which of the files that it names there are can change. */
export async function trustItemOf(hook: ShellHook, workspaceDir: string): Promise<TrustItem> {
  const { scope, name, event, extension, source, root, shell, reads, matcher, timeout, onFailure, dialect } = hook;
  const expand = shell ? (text: string) => text : (text: string) => expandFolders(text, hook, workspaceDir);
  const files = [...(hook.files ?? []), ...(shell ? await namedFiles(hook, workspaceDir) : [])];
  return {
    ...{ kind: 'hook', scope, name, event, extension, source, root, shell, reads },
    command: expand(hook.command),
    args: hook.args?.map(expand),
    env: { ...folderVariables(hook, workspaceDir), ...hook.env },
    cwd: hook.cwd ?? (dialect === 'native' ? undefined : workspaceDir),
    ...(files.length > 0 && { files }),
    details: {
      ...{ matcher, timeout, onFailure, dialect, dialectEvent: hook.dialectEvent, exitCodes: hook.exitCodes },
      ...(hook.sensitive && { sensitive: hook.sensitive }),
    },
  };
}

/** Without a shell nobody else would put the folders in their places. */
function expandFolders(text: string, hook: ShellHook, workspaceDir: string): string {
  return Object.entries(folderVariables(hook, workspaceDir)).reduce(
    (expanded, [name, folder]) => expanded.replaceAll(`\${${name}}`, folder),
    text,
  );
}

/**
 * The files that a text for a shell names by way of a variable, such as `"$CLAUDE_PROJECT_DIR"/.claude/check.sh`: the
 * gate sees plain paths only.
 */
async function namedFiles(hook: ShellHook, workspaceDir: string): Promise<string[]> {
  const folders = Object.entries(folderVariables(hook, workspaceDir)).filter(([, folder]) => folder === workspaceDir);
  const found = folders.flatMap(([name]) => {
    const use = new RegExp(`\\$(?:${name}|\\{${name}\\})["']?/([^\\s"';&|<>()$\`]+)`, 'g');
    return [...hook.command.matchAll(use)].map(([, path = '']) => resolve(workspaceDir, path));
  });
  const files: string[] = [];
  for (const path of new Set(found)) {
    if (isInside(path, workspaceDir) && (await isThere(path))) files.push(relative(workspaceDir, path));
  }
  return files;
}

/** Whether a path is a file, or a link to whatever is no folder: where it leads nowhere, the gate refuses it. */
async function isThere(path: string): Promise<boolean> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return (
    !isFolder &&
    lstat(path).then(
      () => true,
      () => false,
    )
  );
}
