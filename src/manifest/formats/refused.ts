import { describeError } from '../../errors.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { readServer } from '../../mcp/config/server-map.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import { resolveHook } from '../../shell-hooks/hook/resolve-hook.js';
import type { ManifestContent, ManifestHook } from '../extension.js';
import type { ReferenceFinder } from '../settings/reference.js';

/** Returns the reason why a hook cannot be registered, or undefined. */
export function problemOfHook(hook: ManifestHook): string | undefined {
  try {
    resolveHook(hook as HookRegistration, 'unregistered');
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/**
 * Reports a setting in a hook. A value in a shell command could run as code, and in arguments it would be shown and
 * hashed. So settings are allowed only as variables of a shell command.
 */
export function settingInHook(hook: ManifestHook, findSettings: ReferenceFinder): string | undefined {
  const { name, command, args = [], env = {}, shell } = hook;
  const found = findSettings([command, ...args, ...Object.values(env)].join('\n'));
  const refused = found.find(({ isVariable }) => !(shell && isVariable));
  if (refused === undefined) return undefined;
  const { text, setting } = refused;
  return `${text} would put the setting "${setting.name}" into the command of hook "${name}": read it from the environment`;
}

/** Reports servers that cannot be used. */
export function serverProblems(content: ServerContent): readonly ManifestProblem[] {
  return readServers(content).flatMap(({ path, entry }) =>
    'problem' in entry ? [{ path, message: entry.problem }] : [],
  );
}

/** Warns about fields of servers that have no effect. When a server is added, its loader logs the same warnings. */
export function serverWarnings(content: ServerContent): readonly ManifestProblem[] {
  return readServers(content).flatMap(({ path, entry }) => entry.notes.map((message) => ({ path, message })));
}

type ServerContent = Pick<ManifestContent, 'name' | 'mcpServers'>;

function readServers({ name: extension, mcpServers }: ServerContent) {
  return Object.entries(mcpServers).map(([name, server]) => ({
    path: `mcpServers.${name}`,
    entry: readServer(name, server, { scope: 'workspace', extension, argsRequired: true }),
  }));
}
