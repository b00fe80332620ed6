import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, parse, resolve, sep } from 'node:path';
import { callable, fullText, object, timerMs } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import {
  type Environment,
  type InheritedVariables,
  inheritedVariables,
  userEnvironment,
} from '../process/environment.js';
import { resolveExecutable } from '../process/executable.js';
import { runProcess } from '../process/run-process.js';
import { ConceptCommandError, ConceptCommandUnavailableError } from './concept-error.js';
import type { BuildContext, ConceptRequest } from './concept-request.js';

/** The program that looks up concepts, and how it is run. */
export interface CommandContextOptions {
  /** A file path, or a name that is looked up in `MAENIFOLD_ROOT` and PATH. Default `maenifold`. */
  readonly command?: string | undefined;
  /**
   * Returns the program's arguments, passed without a shell. Default: `--tool buildcontext --payload <the request as
   * JSON>`.
   */
  readonly args?: ((request: ConceptRequest) => readonly string[]) | undefined;
  /** The variables from which the program inherits. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /**
   * Variables of `env` that the program inherits. `false` withholds the keys of model providers and each other
   * `*_API_KEY`. `true` withholds none. An object names exceptions to `false`. Default false.
   */
  readonly inheritEnv?: boolean | InheritedVariables | undefined;
  /** The program's working directory. Default: the current one. */
  readonly cwd?: string | undefined;
  /**
   * The program is never looked up by name inside this directory, so that a project cannot replace it. Default: the
   * working directory.
   */
  readonly workspaceDir?: string | undefined;
  /** Time limit of one lookup. Default 5,000. An augmentation usually aborts the lookup earlier. */
  readonly timeoutMs?: number | undefined;
}

const rules = {
  command: fullText,
  args: callable,
  env: object,
  inheritEnv: inheritedVariables,
  cwd: fullText,
  workspaceDir: fullText,
  timeoutMs: timerMs,
} satisfies OptionTable<CommandContextOptions>;

/**
 * Creates a `buildContext` that runs a program and returns its standard output.
 * Adds the heading `## [[name]]` unless the output begins with it. Rejects with ConceptCommandUnavailableError if the
 * program is missing or cannot be started.
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
    const env = userEnvironment({ parent: search.env, exclude: search.exclude }, options.inheritEnv);
    const launch = { command, args: args(request), env: env as Environment, timeoutMs, graceMs: GRACE_MS, signal };
    const { outcome, exitCode, stdout, stderr, failure } = await runProcess({ ...launch, cwd });
    if (failure !== undefined) throw new ConceptCommandUnavailableError(command, failure.message);
    if (outcome === 'output-limit') return withHeading(request.conceptName, `${stdout.trim()}\n\n[cut at 1 MiB]`);
    if (outcome !== 'exited' || exitCode !== 0) {
      throw new ConceptCommandError(command, outcome === 'exited' ? `exit code ${exitCode}` : outcome, stderr);
    }
    return withHeading(request.conceptName, stdout.trim());
  };
}

/** Time between SIGTERM and SIGKILL; a lookup needs no cleanup. */
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
  // In the home directory or the root directory, the user's own programs lie below the working directory.
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

/** Finds the program by `MAENIFOLD_ROOT`, which is a program, or a directory that contains the program or `bin/`. */
async function findAtRoot(command: string, root: string) {
  const found = await stat(root).catch(() => undefined);
  if (found === undefined)
    throw new ConceptCommandUnavailableError(command, `MAENIFOLD_ROOT must be an existing path, got "${root}"`);
  const candidates = found.isDirectory() ? [join(root, command), join(root, 'bin', command)] : [root];
  for (const candidate of candidates) {
    const program = resolveExecutable({ command: candidate, base: root, path: undefined, exclude: [] });
    if (!('failure' in program)) return program;
  }
  return undefined;
}
