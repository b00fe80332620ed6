import { EXTENSION_PATH, type TrustItem } from '../../trust/item.js';
import { dialectOf } from '../dialects/list.js';
import type { ShellHook } from './definition.js';

/** Returns the path variables of a dialect and their values. */
function folderVariables({ dialect, root }: ShellHook, workspaceDir: string): Record<string, string> {
  const { project, extension, fixed } = dialectOf(dialect).folders;
  return Object.fromEntries([
    ...project.map((name) => [name, workspaceDir]),
    ...Object.entries(fixed),
    ...(root === undefined ? [] : extension.map((name) => [name, EXTENSION_PATH])),
  ]);
}

/** Describes a hook for the trust gate. */
export function trustItemOf(hook: ShellHook, workspaceDir: string): TrustItem {
  const { scope, ordinal, event, extension, source, root, shell, reads, files } = hook;
  const { matcher, timeout, onFailure, dialect, dialectEvent, exitCodes, sensitive, condition, background } = hook;
  const { http } = hook;
  const name = ordinal === 1 ? hook.name : `${hook.name}#${ordinal}`;
  const expand = shell ? (text: string) => text : (text: string) => expandFolders(text, hook, workspaceDir);
  const place = { kind: 'hook', scope, name, event, extension, source, root } as const;
  const details = {
    matcher,
    timeout,
    onFailure,
    dialect,
    dialectEvent,
    exitCodes,
    condition,
    background,
    sensitive: sensitive && [...sensitive],
  };
  // The values of the variables are not part of the approval, as with `reads`.
  if (http !== undefined)
    return { ...place, reads: http.variables, details: { ...details, url: hook.command, headers: http.headers } };
  return {
    ...place,
    shell,
    reads,
    files,
    command: expand(hook.command),
    args: hook.args?.map(expand),
    env: { ...folderVariables(hook, workspaceDir), ...hook.env },
    cwd: hook.cwd ?? (dialectOf(dialect).worksIn === 'workspace' ? workspaceDir : undefined),
    details,
  };
}

/** Replaces path variables in a command line that no shell expands. */
function expandFolders(text: string, hook: ShellHook, workspaceDir: string): string {
  return Object.entries(folderVariables(hook, workspaceDir)).reduce(
    (expanded, [name, folder]) => expanded.replaceAll(`\${${name}}`, () => folder),
    text,
  );
}
