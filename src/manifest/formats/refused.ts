import { describeError } from '../../errors.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { readServer } from '../../mcp/config/server-map.js';
import { isRefusedName } from '../../process/environment.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import { resolveHook } from '../../shell-hooks/hook/resolve-hook.js';
import type { ManifestContent, ManifestHook } from '../extension.js';

/** Returns the reason why a hook cannot be registered, or undefined. */
export function problemOfHook(hook: ManifestHook): string | undefined {
  try {
    resolveHook(hook as HookRegistration, 'unregistered');
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/** Reports servers that cannot be used. */
export function serverProblems({ name: extension, mcpServers }: Pick<ManifestContent, 'name' | 'mcpServers'>) {
  return Object.entries(mcpServers).flatMap(([name, server]): ManifestProblem[] => {
    const entry = readServer(name, server, { scope: 'workspace', extension, argsRequired: true });
    return 'problem' in entry ? [{ path: `mcpServers.${name}`, message: entry.problem }] : [];
  });
}

/** Warns about the parts that the trust gate denies if the extension lies in a workspace. */
export function gateWarnings(hooks: readonly (ManifestHook & { readonly at: string })[]): ManifestProblem[] {
  return hooks.flatMap(({ at, env = {}, files = [] }) => [
    ...Object.keys(env)
      .filter(isRefusedName)
      .map((name) => ({
        path: `${at}.env.${name}`,
        message: 'this variable can make another program run: in a workspace, the hook is not allowed to run',
      })),
    ...files.filter(isOutside).map((pattern) => ({
      path: `${at}.files`,
      message: `${JSON.stringify(pattern)} leads out of the workspace: in a workspace, the hook is not allowed to run`,
    })),
  ]);
}

function isOutside(pattern: string): boolean {
  return pattern.startsWith('/') || pattern.split('/').includes('..');
}
