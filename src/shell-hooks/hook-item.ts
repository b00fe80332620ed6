import { lstat, stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { isInside } from '../process/location.js';
import { EXTENSION_PATH, type TrustItem } from '../trust/trust-item.js';
import type { ShellHook } from './hook-definition.js';
import type { HookDialect } from './hook-dialect.js';
import { HookInvalidError } from './hook-error.js';

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
  const { scope, ordinal, event, extension, source, root, shell, reads, matcher, timeout, onFailure, dialect } = hook;
  const name = ordinal === 1 ? hook.name : `${hook.name}#${ordinal}`;
  const expand = shell ? (text: string) => text : (text: string) => expandFolders(text, hook, workspaceDir);
  const files = [...(hook.files ?? []), ...(await namedFiles(hook, workspaceDir))];
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

/** What a shell puts in its place, with a path after it: `"$CLAUDE_PROJECT_DIR"/check.sh`, `$(git rev-parse …)/check.sh`. */
const EXPANDED_PATH = /(?:\$\w+|\$\{[^}]{0,200}\}|\$\([^()]{0,200}\)|`[^`]{0,200}`)["']?\/(?=([^\n]{0,1000}))/g;
/** Where such a path may end; a quoted one may hold some of these. */
const PATH_END = /[\s"';&|<>()$`]|$/g;
const MANY_NAMES = 2_000;

/**
 * The files that the command line names by way of a shell's expansion: the gate sees plain paths only. Whatever the
 * expansion is, a file of that name in the workspace is bound: it is rather one too many.
 */
async function namedFiles(hook: ShellHook, workspaceDir: string): Promise<string[]> {
  const paths = new Set<string>();
  for (const name of expandedNames(hook)) paths.add(resolve(workspaceDir, `./${name}`));
  const files: string[] = [];
  for (const path of paths) {
    if (isInside(path, workspaceDir) && (await isThere(path))) files.push(relative(workspaceDir, path));
  }
  return files;
}

/** Every name that could be meant. Throws where there are so many that something may be hidden among them. */
function expandedNames({ name: hook, command, args = [] }: ShellHook): string[] {
  const names: string[] = [];
  for (const text of [command, ...args]) {
    for (const [, rest = ''] of text.matchAll(EXPANDED_PATH)) {
      for (const { index } of rest.matchAll(PATH_END)) names.push(rest.slice(0, index).replace(/["'\\]/g, ''));
      if (names.length > MANY_NAMES) throw new HookInvalidError(hook, ['its command line could name too many files']);
    }
  }
  return names;
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
