import { closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { describeError } from '../errors.js';

/** The kinds of failures to start a process. */
export type SpawnFailureCode =
  | 'not-found'
  | 'not-executable'
  | 'is-directory'
  | 'bad-interpreter'
  | 'bad-format'
  | 'bad-argument'
  | 'cwd-missing'
  | 'no-resources'
  | 'other';

/** The reason why a process could not be started, and what to do about it. */
export interface SpawnFailure {
  readonly code: SpawnFailureCode;
  readonly message: string;
  readonly hint: string;
}

/** The program to start, with its arguments and environment. */
export interface SpawnTarget {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** The number of bytes that Linux reads of the first line of a script. It ignores the last of these bytes. */
const HEAD_BYTES = 256;
const isWindows = process.platform === 'win32';
/**
 * The index from which the name of a variable must not contain `=`. On Windows it is 1, because Windows has hidden
 * variables such as `=C:`.
 */
const NAME_START = isWindows ? 1 : 0;

/**
 * Returns the reason why a target cannot be started, if a check of its names, its file and its directory shows one. The
 * system reports the same code for a missing program, interpreter and directory.
 *
 * Synchronous, so that little time passes between the check and the start. See
 * docs/decisions/0022-no-hidden-shell.md.
 */
export function findSpawnFailure({ command, cwd, env }: SpawnTarget): SpawnFailure | undefined {
  if (!isAbsolute(command)) {
    const message = `The command must be an absolute path, got "${command}"`;
    return failure('bad-argument', message, 'Resolve it with `resolveExecutable`.');
  }
  if (Object.keys(env).some((name) => name === '' || name.includes('=', NAME_START)))
    return failure('bad-argument', 'The name of a variable must not be empty or contain "="', 'Rename the variable.');
  const bad = findBadExecutable(command);
  if (bad !== undefined || cwd === undefined || cwd.includes('\0') || isFolder(cwd)) return bad;
  return failure('cwd-missing', `The working directory ${cwd} is missing`, 'Create the directory, or use another one.');
}

/** True if the path is a directory. Follows links. */
export function isFolder(path: string): boolean {
  return look(path)?.isDirectory() === true;
}

/** Returns undefined if the path is missing or cannot be read. Follows links. */
export function look(path: string | Buffer): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns the failure of a path that is missing or not a regular file. Follows links. */
export function findBadFile(path: string): SpawnFailure | undefined {
  try {
    const found = statSync(path);
    if (found.isFile()) return undefined;
    const [code, problem] = found.isDirectory()
      ? (['is-directory', 'is a directory'] as const)
      : (['not-executable', 'is not a regular file'] as const);
    return failure(code, `${path} ${problem}`, 'Give the path of a program.');
  } catch (error) {
    return explainSpawnError(error, path);
  }
}

/** Returns the reason why a file cannot be executed. Undefined if no reason is found. */
export function findBadExecutable(path: string): SpawnFailure | undefined {
  const bad = findBadFile(path);
  if (bad !== undefined || isWindows) return bad;
  const found = look(path);
  return found !== undefined && (found.mode & 0o111) === 0
    ? failure('not-executable', `${path} is not executable`, `Run: chmod +x ${path}`)
    : findBadFormat(path);
}

/** Refuses a script without `#!`, because `execvp` would run it in a shell that nobody asked for. */
function findBadFormat(path: string): SpawnFailure | undefined {
  const line = readFirstLine(path);
  // Shells use the same rule: a file with a NUL in its first line is binary.
  if (line === undefined || line.includes('\0')) return undefined;
  const interpreter = /^#![ \t]*([^ \t\n]+)/.exec(line)?.[1];
  if (interpreter === undefined) {
    return failure('bad-format', `${path} is not a program`, 'Add a first line such as #!/bin/sh.');
  }
  const wanted = Buffer.from(interpreter, 'latin1');
  if (look(wanted)?.isFile()) return undefined;
  const message = `${path} needs the interpreter ${JSON.stringify(wanted.toString())}, which is missing`;
  return failure('bad-interpreter', message, 'Correct the first line, or install the interpreter.');
}

/** Returns the first line of a file, up to 256 bytes. Returns undefined if the file cannot be read. */
function readFirstLine(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const head = Buffer.alloc(HEAD_BYTES);
    const [line = ''] = head.toString('latin1', 0, readSync(file, head)).split('\n', 1);
    return line;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const EXPLANATIONS: Readonly<Record<string, readonly [SpawnFailureCode, string]>> = {
  ENOENT: ['not-found', 'Install the program, or correct the path.'],
  ENOTDIR: ['not-found', 'Install the program, or correct the path.'],
  EACCES: ['not-executable', 'Check the permissions of the file and its directories.'],
  EPERM: ['not-executable', 'Check the permissions of the file and its directories.'],
  ENOEXEC: ['bad-format', 'Use a program built for this machine.'],
  E2BIG: ['bad-argument', 'Pass long values through stdin.'],
  ERR_INVALID_ARG_VALUE: ['bad-argument', 'Remove the NUL character.'],
  EAGAIN: ['no-resources', 'Too many processes: try again later.'],
  EMFILE: ['no-resources', 'Too many open files: try again later, or raise the limit of the system.'],
  ENFILE: ['no-resources', 'Too many open files: try again later, or raise the limit of the system.'],
  ENOMEM: ['no-resources', 'No memory is left: try again later.'],
};

/** Returns the explanation for an error, or else for the first of its causes that has one. */
function explanationOf(error: unknown): readonly [SpawnFailureCode, string] | undefined {
  for (let cause = error as NodeJS.ErrnoException | undefined; cause; cause = cause.cause as typeof cause) {
    const known = EXPLANATIONS[cause.code ?? ''];
    if (known !== undefined) return known;
  }
  return undefined;
}

/** Describes an error that a spawn threw or emitted. */
export function explainSpawnError(error: unknown, command: string): SpawnFailure {
  const [code, hint] = explanationOf(error) ?? ['other', 'See the message.'];
  return failure(code, `${command} could not be started: ${describeError(error)}`, hint);
}

/**
 * Returns the failure if an error, or one of its causes, says that the machine is out of file descriptors, processes or
 * memory. Otherwise returns undefined.
 */
export function findResourceFailure(error: unknown): SpawnFailure | undefined {
  const [code, hint] = explanationOf(error) ?? [];
  return code === 'no-resources' && hint !== undefined ? failure(code, describeError(error), hint) : undefined;
}

function failure(code: SpawnFailureCode, message: string, hint: string): SpawnFailure {
  return { code, message, hint };
}
