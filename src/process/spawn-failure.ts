import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
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

const HEAD_BYTES = 256;
const isWindows = process.platform === 'win32';
/** Windows has variables such as `=C:`. */
const NO_NAME = isWindows ? /^$|.=/s : /^$|=/;

/** What is wrong with a target that a look at it can tell, so that nothing is started in its place. */
export async function findSpawnFailure(target: SpawnTarget): Promise<SpawnFailure | undefined> {
  return findBadText(target) ?? (await findBadCwd(target.cwd)) ?? (await findBadExecutable(target.command));
}

function findBadText({ command, args = [], cwd = '', env }: SpawnTarget): SpawnFailure | undefined {
  const bad = (what: string, hint: string) => failure('bad-argument', what, hint);
  if (!isAbsolute(command)) return bad(`"${command}" is no absolute path`, 'Resolve it with `resolveExecutable`.');
  const texts = [command, cwd, ...args, ...Object.entries(env).flat()];
  if (texts.some((text) => typeof text !== 'string')) return bad('Something of it is no string', 'Give strings only.');
  if (texts.some((text) => text.includes('\0'))) return bad('It holds a NUL character', 'Leave the NUL out.');
  if (Object.keys(env).some((name) => NO_NAME.test(name))) {
    return bad('A variable has no name, or one with = in it', 'It would be another variable: rename it.');
  }
  return undefined;
}

async function findBadCwd(cwd: string | undefined): Promise<SpawnFailure | undefined> {
  if (cwd === undefined) return undefined;
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? undefined : failure('cwd-missing', `There is no folder ${cwd}`, 'Run it in one that exists.');
}

/** What is wrong with a file that is to be executed. */
export async function findBadExecutable(path: string): Promise<SpawnFailure | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return failure('is-directory', `${path} is a folder`, 'Name the program in it.');
    if (isWindows) return undefined;
    if ((found.mode & 0o111) === 0) return failure('not-executable', `${path} is not executable`, `chmod +x ${path}`);
    return await findBadFormat(path);
  } catch (error) {
    return explainSpawnError(error, path);
  }
}

/** `execvp` hands a text without `#!` to a shell. Nothing here runs in a shell unless somebody asked for it. */
async function findBadFormat(path: string): Promise<SpawnFailure | undefined> {
  const head = await readHead(path);
  // By the rule of shells: a text has no NUL in its first line.
  if (head === undefined || head.toString('latin1').split('\n', 1)[0]?.includes('\0')) return undefined;
  const interpreter = /^#![ \t]*([^ \t\n]+)/.exec(head.toString('latin1'))?.[1];
  if (interpreter === undefined) {
    return failure('bad-format', `${path} is no program`, 'A script begins with a line such as #!/bin/sh.');
  }
  return (await isFile(interpreter))
    ? undefined
    : failure(
        'bad-interpreter',
        `${path} asks for ${JSON.stringify(interpreter)}`,
        'Mend its first line, or install that program.',
      );
}

/** The first line of a file, as far as a system looks at it. Undefined where it cannot be read. */
export async function readFirstLine(path: string): Promise<string | undefined> {
  return (await readHead(path))?.toString('utf8').split('\n', 1)[0];
}

/** Undefined where it may be executed but not read. */
async function readHead(path: string): Promise<Buffer | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
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

/** A failure as plain data. */
export function failure(code: SpawnFailureCode, message: string, hint: string): SpawnFailure {
  return { code, message, hint };
}
