import { closeSync, constants, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { describeError } from '../errors.js';

/** Why a process could not be started. */
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

/** A process that could not be started, and what to do about it. */
export interface SpawnFailure {
  readonly code: SpawnFailureCode;
  readonly message: string;
  readonly hint: string;
}

/** What is to be started. */
export interface SpawnTarget {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** What Linux looks at of a first line; the last of them is not taken. */
const HEAD_BYTES = 256;
const isWindows = process.platform === 'win32';
/** From where on a name holds no `=`: Windows has variables such as `=C:`. */
const NAME_START = isWindows ? 1 : 0;

/**
 * What is wrong with a target that a look at it can tell, so that nothing is started in its place. It looks at nothing
 * that a start would not wait for as well, and at once: in between nothing can change.
 */
export function findSpawnFailure(target: SpawnTarget): SpawnFailure | undefined {
  return findBadText(target) ?? findBadExecutable(target.command);
}

function findBadText({ command, args = [], cwd = '', env }: SpawnTarget): SpawnFailure | undefined {
  const bad = (what: string, hint: string) => failure('bad-argument', what, hint);
  if (!isAbsolute(command)) return bad(`"${command}" is no absolute path`, 'Resolve it with `resolveExecutable`.');
  const names = Object.keys(env);
  for (const text of [command, cwd, ...args, ...names, ...Object.values(env)]) {
    if (typeof text !== 'string') return bad('Something of it is no string', 'Give strings only.');
    if (text.includes('\0')) return bad('It holds a NUL character', 'Leave the NUL out.');
  }
  if (names.some((name) => name === '' || name.includes('=', NAME_START))) {
    return bad('A variable has no name, or one with = in it', 'It would be another variable: rename it.');
  }
  return undefined;
}

/** Whether a path is a folder, with links followed. */
export function isFolder(path: string): boolean {
  return look(path)?.isDirectory() === true;
}

/** Undefined where nothing can be seen there. */
function look(path: string | Buffer): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** What is wrong with a file that is to be executed. */
export function findBadExecutable(path: string): SpawnFailure | undefined {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return failure('is-directory', `${path} is a folder`, 'Name the program in it.');
    if (isWindows) return undefined;
    if ((found.mode & 0o111) === 0) return failure('not-executable', `${path} is not executable`, `chmod +x ${path}`);
    return findBadFormat(path);
  } catch (error) {
    return explainSpawnError(error, path);
  }
}

/** `execvp` hands a text without `#!` to a shell. Nothing here runs in a shell unless somebody asked for it. */
function findBadFormat(path: string): SpawnFailure | undefined {
  const line = readFirstLine(path)?.toString('latin1');
  // By the rule of shells: a text has no NUL in its first line.
  if (line === undefined || line.includes('\0')) return undefined;
  const interpreter = /^#![ \t]*([^ \t\n]+)/.exec(line)?.[1];
  if (interpreter === undefined) {
    return failure('bad-format', `${path} is no program`, 'A script begins with a line such as #!/bin/sh.');
  }
  const wanted = Buffer.from(interpreter, 'latin1');
  if (look(wanted)?.isFile()) return undefined;
  const message = `${path} asks for ${JSON.stringify(wanted.toString())}`;
  return failure('bad-interpreter', message, 'Mend its first line, or install that program.');
}

/** Only ever filled and read at once. */
const head = Buffer.alloc(HEAD_BYTES);

/**
 * The first line of a file with its end, or as far as a system looks at it, until the next is read. Undefined where it
 * may be executed but not read.
 */
export function readFirstLine(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const line = head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
    return line.subarray(0, line.indexOf('\n') + 1 || undefined);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const EXPLANATIONS: Readonly<Record<string, readonly [SpawnFailureCode, string]>> = {
  ENOENT: ['not-found', 'Install it, or mend the path.'],
  ENOTDIR: ['not-found', 'Install it, or mend the path.'],
  EACCES: ['not-executable', 'Look at the permissions of the file and of its folders.'],
  EPERM: ['not-executable', 'Look at the permissions of the file and of its folders.'],
  ENOEXEC: ['bad-format', 'It is no program for this machine.'],
  E2BIG: ['bad-argument', 'Pass long values through stdin.'],
  EAGAIN: ['no-resources', 'Too many processes: try again later.'],
  EMFILE: ['no-resources', 'Too many open files: try again later, or raise the limit.'],
  ENFILE: ['no-resources', 'Too many open files: try again later, or raise the limit.'],
  ENOMEM: ['no-resources', 'No memory is left: try again later.'],
};

/** What a thrown or emitted error of a spawn says. */
export function explainSpawnError(error: unknown, command: string): SpawnFailure {
  const [code, hint] = EXPLANATIONS[(error as NodeJS.ErrnoException)?.code ?? ''] ?? ['other', 'Read the message.'];
  return failure(code, `${command} could not be started: ${describeError(error)}`, hint);
}

/** What an error of the start of a target says: the system does not tell a folder that is missing from a program. */
export function explainStart(error: unknown, { command, cwd }: Pick<SpawnTarget, 'command' | 'cwd'>): SpawnFailure {
  if (cwd === undefined || isFolder(cwd)) return explainSpawnError(error, command);
  return failure('cwd-missing', `There is no folder ${cwd}`, 'Run it in one that exists.');
}

/** A failure as plain data. */
export function failure(code: SpawnFailureCode, message: string, hint: string): SpawnFailure {
  return { code, message, hint };
}
