import {
  type Environment,
  type InheritedVariables,
  isRefusedName,
  userEnvironment,
  workspaceEnvironment,
} from '../../process/environment.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import type { VerifiedItem } from '../../trust/decision.js';
import { dialectOf } from '../dialects/list.js';
import type { ShellHook } from '../hook/definition.js';

/** Values for `hookEnvironment` that do not come from the hook. */
export interface HookEnvironmentSource {
  readonly workspaceDir: string;
  /** Prefix of the variable names of this application, such as `KEELSON`. */
  readonly prefix: string;
  readonly sessionId: string;
  /** If true, hooks of the host and the user get the keys of model providers. An object names exceptions. */
  readonly inheritEnv: boolean | InheritedVariables;
}

/**
 * Returns the environment of a hook. A workspace hook gets a short list of variables and the variables it declares.
 * Every other hook gets the environment of this process without keys of model providers.
 */
export function hookEnvironment(hook: ShellHook, verified: VerifiedItem, source: HookEnvironmentSource): Environment {
  const { workspaceDir, inheritEnv } = source;
  const own = { ...hook.variables?.(), ...verified.launch?.env };
  const additions = { ...declared(hook), ...dialectOf(hook.dialect).variables?.(hook, source), ...own };
  const base = { parent: process.env, exclude: workspaceRoots(workspaceDir), additions };
  return verified.scope === 'workspace' ? workspaceEnvironment(base) : userEnvironment(base, inheritEnv);
}

/** Returns the variables that the hook declares in `reads`. The approval prompt shows their names. */
function declared({ reads = [] }: ShellHook): Record<string, string> {
  const named = reads.filter((name) => !isRefusedName(name) && process.env[name] !== undefined);
  return Object.fromEntries(named.map((name) => [name, process.env[name] as string]));
}
