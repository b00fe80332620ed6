import { type Environment, isRefusedName, userEnvironment, workspaceEnvironment } from '../../process/environment.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import type { VerifiedItem } from '../../trust/decision.js';
import { dialectOf } from '../dialects/list.js';
import type { ShellHook } from '../hook/definition.js';

/** What the environment of a hook is made of beside its own definition. */
export interface HookEnvironmentSource {
  readonly workspaceDir: string;
  /** What the names of its variables begin with. */
  readonly prefix: string;
  readonly sessionId: string;
  /** Whether hooks of the user's get the credentials of model providers too. */
  readonly inheritEnv: boolean;
}

/**
 * The environment of a hook. One of the workspace gets a short list of variables and what it declared; one of the
 * user's everything but credentials.
 */
export function hookEnvironment(hook: ShellHook, verified: VerifiedItem, source: HookEnvironmentSource): Environment {
  const { workspaceDir, inheritEnv } = source;
  const own = { ...hook.variables?.(), ...verified.launch?.env };
  const base = { parent: process.env, exclude: workspaceRoots(workspaceDir) };
  if (verified.scope === 'workspace') {
    const additions = { ...declared(hook), ...dialectOf(hook.dialect).variables?.(hook, source), ...own };
    return workspaceEnvironment({ ...base, additions });
  }
  const additions = {
    ...(inheritEnv && parentTexts()),
    ...declared(hook),
    ...dialectOf(hook.dialect).variables?.(hook, source),
    ...own,
  };
  return userEnvironment({ ...base, additions });
}

/** Shown to whoever approved it. */
function declared({ reads = [] }: ShellHook): Record<string, string> {
  const named = reads.filter((name) => !isRefusedName(name) && process.env[name] !== undefined);
  return Object.fromEntries(named.map((name) => [name, process.env[name] as string]));
}

function parentTexts(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
