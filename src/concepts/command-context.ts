import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, parse, resolve, sep } from 'node:path';
import { callable, fullText, object, timerMs } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { type Environment, userEnvironment } from '../process/environment.js';
import { resolveExecutable } from '../process/executable.js';
import { runProcess } from '../process/run-process.js';
import { ConceptCommandError, ConceptCommandUnavailableError } from './concept-error.js';
import type { BuildContext, ConceptRequest } from './concept-request.js';

/** Which program knows about concepts. */
export interface CommandContextOptions {
  /** A path, or a name that is looked up in `MAENIFOLD_ROOT` and in PATH. Default `maenifold`. */
  readonly command?: string | undefined;
  /** Default: `--tool buildcontext --payload <the request as JSON>`. No shell reads them. */
  readonly args?: ((request: ConceptRequest) => readonly string[]) | undefined;
  /** The environment that it gets, without the credentials of model providers. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Default: that of this process. */
  readonly cwd?: string | undefined;
  /** No name is looked up in here, so that a project does not choose the program. Default: the working directory. */
  readonly workspaceDir?: string | undefined;
  /** Default 5,000. An augmentation ends it sooner. */
  readonly timeoutMs?: number | undefined;
}

const rules = {
  command: fullText,
  args: callable,
  env: object,
  cwd: fullText,
  workspaceDir: fullText,
  timeoutMs: timerMs,
} satisfies OptionTable<CommandContextOptions>;

/**
 * Looks a concept up by running a program, which writes what it knows to its standard output. The text gets the heading
 * `## [[name]]` where it does not begin with it. Rejects with ConceptCommandUnavailableError where there is no program.
 *
 * @example
 * const buildContext = commandContext({
 *   command: '/usr/local/bin/glossary',
 *   args: ({ conceptName }) => ['show', conceptName],
 * });
 * const agent = new Agent({ model, lifecycle: [conceptAugmentation({ buildContext })] });
 */
export function commandContext(options: CommandContextOptions = {}): BuildContext {
  validateOptions(options, rules);
  const { args = payloadArgs, cwd, timeoutMs = 5_000 } = options;
  return async (request, { signal }) => {
    const search = searchOf(options);
    const command = await findProgram(search);
    const env = userEnvironment({ parent: search.env, exclude: search.exclude });
    const given = { command, args: args(request), env: env as Environment, timeoutMs, graceMs: GRACE_MS, signal };
    const { outcome, exitCode, stdout, stderr, failure } = await runProcess({ ...given, cwd });
    if (failure !== undefined) throw new ConceptCommandUnavailableError(command, failure.message);
    if (outcome !== 'exited' || exitCode !== 0) {
      throw new ConceptCommandError(command, outcome === 'exited' ? `exit code ${exitCode}` : outcome, stderr);
    }
    return withHeading(request.conceptName, stdout.trim());
  };
}

/** A lookup has nothing to put in order when it is ended. */
const GRACE_MS = 100;

function payloadArgs(request: ConceptRequest): readonly string[] {
  return ['--tool', 'buildcontext', '--payload', JSON.stringify(request)];
}

function withHeading(name: string, text: string): string {
  const heading = `## [[${name}]]`;
  const hasHeading = text === heading || text.startsWith(`${heading}\n`) || text.startsWith(`${heading}\r\n`);
  return text === '' || hasHeading ? text : `${heading}\n\n${text}`;
}

interface Search {
  readonly command: string;
  readonly base: string;
  readonly env: NodeJS.ProcessEnv;
  readonly exclude: readonly string[];
}

function searchOf({ command = 'maenifold', env = process.env, cwd, workspaceDir }: CommandContextOptions): Search {
  const base = resolve(cwd ?? '.');
  const workspace = resolve(workspaceDir ?? '.');
  // Who works in their home folder, or at the root of all, keeps programs of their own below it.
  const isEverything = workspaceDir === undefined && [homedir(), parse(workspace).root].includes(workspace);
  return { command, base, env, exclude: isEverything ? [] : [workspace] };
}

async function findProgram({ command, base, env, exclude }: Search): Promise<string> {
  const isName = !command.includes('/') && !command.includes(sep);
  const atRoot =
    isName && env.MAENIFOLD_ROOT ? await findAtRoot(command, resolve(base, env.MAENIFOLD_ROOT)) : undefined;
  const found = atRoot ?? resolveExecutable({ command, base, path: env.PATH, exclude });
  if ('failure' in found) throw new ConceptCommandUnavailableError(command, found.failure.message);
  return found.realPath;
}

/** The variable names the program, or a folder that may hold it beside its data. */
async function findAtRoot(command: string, root: string) {
  const found = await stat(root).catch(() => undefined);
  if (found === undefined)
    throw new ConceptCommandUnavailableError(command, `MAENIFOLD_ROOT is ${root}, which is not there`);
  const places = found.isDirectory() ? [join(root, command), join(root, 'bin', command)] : [root];
  for (const place of places) {
    const program = resolveExecutable({ command: place, base: root, path: undefined, exclude: [] });
    if (!('failure' in program)) return program;
  }
  return undefined;
}
