import { resolve } from 'node:path';
import { workspaceEnvironment } from '../../process/environment.js';
import { resolveExecutable } from '../../process/executable.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import type { AllowedDecision, DeniedDecision } from '../../trust/decision.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import { McpConnectError } from '../error.js';
import type { McpServerDefinition } from './definition.js';
import { Expansion } from './expansion.js';
import { problemOfUrl } from './server-url.js';
import type { McpSettings } from './settings.js';
import { trustItemOf } from './trust-item.js';

/** A server as it may be reached now, its texts expanded. */
export type ServerLaunch = ProcessLaunch | { readonly url: URL; readonly headers: Readonly<Record<string, string>> };

/** A server as it may be started now. */
interface ProcessLaunch extends TrustedLaunch {
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The answer of the gate on a server, which holds until the gate takes it back. Undefined if no decision is needed. */
export async function decide(
  definition: McpServerDefinition,
  { gate }: McpSettings,
): Promise<AllowedDecision | DeniedDecision | undefined> {
  const { name, origin } = definition;
  const { scope } = origin;
  if (scope === 'builtin') return undefined;
  const item = trustItemOf(definition);
  if (gate !== undefined) return gate.authorize(item);
  if (scope === 'user') return undefined;
  const message = `The server "${name}" comes from the workspace, and there is nobody to ask: give \`approve\``;
  const unseen = { digest: undefined, approvedBefore: false, failure: undefined };
  return { ...unseen, allowed: false, reason: 'no-approver', scope, item, message };
}

/** Expands a server's texts, after the gate has let it pass: nothing of the environment is read before that. */
export function prepareLaunch(
  definition: McpServerDefinition,
  trusted: TrustedLaunch | undefined,
  settings: McpSettings,
): ServerLaunch {
  const { name, origin } = definition;
  const { workspaceDir = settings.workspaceDir } = origin;
  // What editors call it.
  const folder = workspaceDir && { workspaceFolder: resolve(workspaceDir) };
  const expansion = new Expansion({ ...folder, ...settings.system.env, ...origin.settings });
  if (definition.transport === 'stdio') {
    const launch = trusted ?? ownLaunch(definition, settings, expansion);
    const args = launch.args.map((text) => expansion.text(text));
    const additions = { ...expansion.map(launch.env), ...origin.settings };
    refuseMissing(name, expansion);
    const exclude = origin.scope !== 'builtin' && workspaceDir ? workspaceRoots(workspaceDir) : [];
    const env = workspaceEnvironment({ parent: settings.system.env, additions, exclude });
    return { ...launch, args, env };
  }
  const url = expansion.text(definition.url ?? '');
  const headers = expansion.map(definition.headers);
  refuseMissing(name, expansion);
  const problem = problemOfUrl(url) ?? problemOfHeaders(headers);
  if (problem !== undefined) throw new McpConnectError(name, problem, { retryable: false });
  return { url: new URL(url), headers };
}

/** The host's own word on what to start: its whole PATH counts, and variables in the program and the folder too. */
function ownLaunch(
  definition: McpServerDefinition,
  { workspaceDir, system }: McpSettings,
  expansion: Expansion,
): TrustedLaunch {
  const { name, args, env, origin } = definition;
  const command = expansion.text(definition.command ?? '');
  const folder = resolve(origin.root ?? workspaceDir ?? '.', expansion.text(definition.cwd ?? '.'));
  const path = env.PATH === undefined ? system.env.PATH : expansion.text(env.PATH);
  refuseMissing(name, expansion);
  const found = resolveExecutable({ command, base: folder, path, exclude: [] });
  if ('failure' in found) {
    const { message, hint } = found.failure;
    throw new McpConnectError(name, `${message}. ${hint}`, { retryable: false });
  }
  return { command: found.realPath, argv0: found.path, args, cwd: folder, env };
}

/** Does not show the value, which may be a secret. The error of `fetch` would. */
function problemOfHeaders(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      return `its header ${JSON.stringify(name)} has a character in its name or its value that no header can have`;
    }
  }
  return undefined;
}

function refuseMissing(name: string, { missing }: Expansion): void {
  if (missing.size === 0) return;
  const names = [...missing].join(', ');
  throw new McpConnectError(name, `it needs the variable ${names}, which is not set.`, { retryable: false });
}
