import { basename, resolve, sep } from 'node:path';
import { workspaceEnvironment } from '../../process/environment.js';
import { resolveExecutable } from '../../process/executable.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import { known } from '../../programs/cell.js';
import { programOf, serverCells } from '../../programs/list.js';
import type { PlaceName } from '../../programs/program.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import { McpConnectError } from '../error.js';
import type { McpServerDefinition } from './definition.js';
import { Expansion } from './expansion.js';
import { problemOfUrl } from './server-url.js';
import type { McpSettings } from './settings.js';

export type ServerLaunch = ProcessLaunch | { readonly url: URL; readonly headers: Readonly<Record<string, string>> };

export interface ProcessLaunch extends TrustedLaunch {
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Expands the variables of a definition. The expansion reads the environment, so call it only after the trust gate has
 * allowed the server.
 */
export function prepareLaunch(
  definition: McpServerDefinition,
  trusted: TrustedLaunch | undefined,
  settings: McpSettings,
): ServerLaunch {
  const { name, origin } = definition;
  const { workspaceDir = settings.workspaceDir } = origin;
  const table = programOf(origin.program)?.servers;
  const places = placesOf(workspaceDir ?? '.', origin.root);
  const expansion = new Expansion(
    { ...settings.system.env, ...places, ...origin.settings },
    known(table?.unset, 'unavailable') === 'empty',
  );
  if (definition.transport === 'stdio') {
    const launch = trusted ?? ownLaunch(definition, settings, expansion);
    const args = launch.args.map((text) => expansion.text(text));
    const shared = known(table?.environment, []).filter((name) => places[name] !== undefined);
    const own = Object.fromEntries(shared.map((name) => [name, places[name] ?? '']));
    const additions = { ...own, ...expansion.map(launch.env), ...origin.settings };
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

/** Returns the values of the variables of all programs, such as `workspaceFolder`. */
function placesOf(workspaceDir: string, root: string | undefined): Readonly<Record<string, string>> {
  const workspace = resolve(workspaceDir);
  const values: Readonly<Record<PlaceName, string | undefined>> = {
    workspace,
    workspaceName: basename(workspace),
    home: homeFolder(),
    separator: sep,
    package: root,
  };
  const variables = serverCells((table) => table.variables).flatMap((names) => Object.entries(names));
  return Object.fromEntries(
    variables.flatMap(([name, place]) => (values[place] === undefined ? [] : [[name, values[place]]])),
  );
}

/**
 * Resolves the program of a server that needs no decision of the trust gate. Expands variables in `command` and `cwd`.
 * Searches all directories of PATH, even if they are in the workspace.
 */
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

/**
 * Returns the problem with the first invalid header. The message does not contain the value, which may be a secret. The
 * error of `fetch` would contain it.
 */
function problemOfHeaders(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      return `its header ${JSON.stringify(name)} has a character in its name or value that HTTP forbids; remove it`;
    }
  }
  return undefined;
}

function refuseMissing(name: string, { missing }: Expansion): void {
  if (missing.size === 0) return;
  const names = [...missing].join(', ');
  throw new McpConnectError(
    name,
    `it needs variables that are not set: ${names}. Set them, or write defaults with \`:-\`.`,
    { retryable: false },
  );
}

const RUNNERS = ['npx', 'pnpx', 'bunx', 'uvx', 'npm', 'pnpm', 'yarn', 'bun', 'uv', 'pipx', 'deno', 'docker', 'podman'];

/** True if the command may install the server before it starts, as `npx` does with an empty cache. */
export function isPackageRunner(command: string, args: readonly string[]): boolean {
  const program = basename(command.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:cmd|exe|ps1|bat)$/, '');
  // On Windows, configurations start npx with `cmd /c npx`.
  const [option = '', inner] = args;
  if (program === 'cmd' && option.toLowerCase() === '/c' && inner !== undefined) return isPackageRunner(inner, []);
  return RUNNERS.includes(program);
}
