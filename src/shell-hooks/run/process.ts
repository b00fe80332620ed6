import type { Clock } from '../../internal/clock.js';
import {
  type Environment,
  type InheritedVariables,
  isRefusedName,
  userEnvironment,
  workspaceEnvironment,
} from '../../process/environment.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import type { Spawn } from '../../process/process-group.js';
import { type ProcessResult, runProcess } from '../../process/run-process.js';
import { isFolder } from '../../process/spawn-failure.js';
import type { VerifiedItem } from '../../trust/decision.js';
import { dialectOf } from '../dialects/list.js';
import type { Report } from '../files/diagnostic.js';
import type { ShellHook } from '../hook/definition.js';
import { postEvent } from './http-handler.js';

/** Options for one run of a hook's program. */
export interface HookStart {
  readonly hook: ShellHook;
  readonly verified: VerifiedItem;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: () => string | Promise<string>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onFirstLine?: ((line: string) => void) | undefined;
}

/** Dependencies of `startHook`. */
export interface HookMachine {
  readonly fetch: typeof fetch | undefined;
  readonly workspaceDir: string;
  readonly clock: Clock;
  readonly spawn: Spawn | undefined;
  readonly report: Report;
}

/** Runs the program of a hook, or asks its server. If its working directory is missing, uses the workspace, or else the home directory. */
export async function startHook(start: HookStart, machine: HookMachine): Promise<ProcessResult> {
  const { hook, verified, env, stdin, timeoutMs, signal, onFirstLine } = start;
  if (hook.http !== undefined)
    return postEvent({ url: hook.command, handler: hook.http, body: stdin(), timeoutMs, signal }, machine);
  const { command = '', argv0, args = [], cwd = machine.workspaceDir } = verified.launch ?? {};
  const { clock, spawn, report } = machine;
  const options = { command, argv0, args, env, stdin, timeoutMs, signal, onFirstLine, clock, spawn };
  const run = (folder: string) => runProcess({ ...options, cwd: folder });
  const result = await run(cwd);
  if (result.failure?.code !== 'cwd-missing') return result;
  const folder = isFolder(machine.workspaceDir) ? machine.workspaceDir : (homeFolder() ?? '/');
  const message = `Hook "${hook.name}" runs in ${folder}, because its working directory ${cwd} does not exist.`;
  report({ level: 'warning', code: 'cwd-missing', message, hook: hook.name });
  return run(folder);
}

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
  const additions = { ...declared(hook), ...dialectOf(hook.dialect).variables(hook, source), ...own };
  const base = { parent: process.env, exclude: workspaceRoots(workspaceDir), additions };
  return verified.scope === 'workspace' ? workspaceEnvironment(base) : userEnvironment(base, inheritEnv);
}

/** Returns the variables that the hook declares in `reads`. The approval prompt shows their names. */
function declared({ reads = [] }: ShellHook): Record<string, string> {
  const named = reads.filter((name) => !isRefusedName(name) && process.env[name] !== undefined);
  return Object.fromEntries(named.map((name) => [name, process.env[name] as string]));
}
