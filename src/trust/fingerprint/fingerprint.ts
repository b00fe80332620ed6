import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isRefusedName, isVariableName } from '../../process/environment.js';
import { type Executable, resolveExecutable } from '../../process/executable.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import { ItemUnboundError } from '../error.js';
import { EXTENSION_PATH, EXTENSION_VARIABLE, type TrustItem, type TrustPlace, type TrustScope } from '../item.js';
import { type BoundFile, type FileReading, type FileSink, sha256Of } from './bound-file.js';
import { type BoundFiles, bindFiles } from './bound-files.js';
import { type CanonicalValue, canonicalJson } from './canonical-json.js';
import type { KnownVariables } from './command-line.js';

/** An item and where it is. All paths except `cwd` have links resolved. */
export interface LocatedItem {
  readonly item: TrustItem;
  /** The origin of the item, by the location of its files. */
  readonly scope: TrustScope;
  readonly workspace: string;
  readonly source: string | undefined;
  readonly root: string | undefined;
  readonly cwd: string;
  readonly executable: Executable | undefined;
}

/** An item with its fingerprint, which covers its definition and all its files. */
export interface Fingerprint extends LocatedItem, BoundFiles {
  /**
   * `sha256:` and 64 hexadecimal digits: a hash of the kind, `/v1`, a line feed and the canonical JSON of `document`.
   */
  readonly digest: string;
  readonly document: { readonly [key: string]: CanonicalValue };
}

/**
 * Resolves the paths of an item and finds its program. Throws an `ItemUnboundError` if the program is missing.
 *
 * With `decided`, the item was validated before: a program given as a path is then not checked for being executable.
 */
export function locateItem(item: TrustItem, place: TrustPlace, decided = false): LocatedItem {
  if (!decided) validateTexts(item);
  const cwd = resolve(item.root ?? place.workspaceDir, item.cwd ?? '.');
  const root = item.root === undefined ? undefined : realLocation(item.root);
  const source = item.source === undefined ? undefined : realLocation(item.source);
  const roots = workspaceRoots(place.workspaceDir);
  const workspace = realLocation(place.workspaceDir);
  const executable = findExecutable(item, { base: baseOf(item, place), path: place.path, roots, unseen: decided });
  const scope = resolveScope(item, roots, executable);
  if (scope === 'workspace') validateEnvironment(item);
  return { item, scope, workspace, source, root, cwd, executable };
}

/** Computes the fingerprint of an item. Rejects with an `ItemUnboundError` if a file cannot be read. */
export function fingerprintItem(item: TrustItem, place: TrustPlace, sink?: FileSink): Promise<Fingerprint> {
  return fingerprintLocated(locateItem(item, place), place, { sink });
}

/** Computes the fingerprint of an item that was located just now. */
export async function fingerprintLocated(
  located: LocatedItem,
  place: TrustPlace,
  reading: FileReading = {},
): Promise<Fingerprint> {
  const { item, scope, workspace, source, root, cwd, executable } = located;
  const around =
    scope === 'user' && source !== undefined
      ? ({ in: 'definition', named: dirname(item.source ?? source), real: dirname(source) } as const)
      : ({ in: 'workspace', named: place.workspaceDir, real: workspace } as const);
  const places = {
    around,
    root,
    cwd,
    program: executable?.path,
    limits: place.limits,
    definitions: scope === 'workspace' ? definitionFolder(located) : undefined,
    variables: variablesOf(located, place),
  };
  const bound = await bindFiles(item, places, reading);
  const document = {
    ...definitionOf(item),
    scope,
    source,
    root,
    files: bound.files,
    // A user's item has the same fingerprint in every workspace.
    workspace: scope === 'workspace' ? workspace : undefined,
    cwd: scope === 'workspace' ? cwd : item.cwd,
    executable: executable && programOf(executable, bound.files, { around: around.real, root }),
  };
  const digest = `sha256:${sha256Of(`${item.kind}/v1\n${canonicalJson(document)}`)}`;
  return { ...located, ...bound, digest, document };
}

/** Returns the digest of an item, as it is shown, stored and compared. */
export async function digestOf(item: TrustItem, place: TrustPlace): Promise<string> {
  return (await fingerprintItem(item, place)).digest;
}

/**
 * Returns the scope of an item. An item that a loader calls the user's belongs to the workspace if its definition, its
 * directory or its program lies there, as named or with links followed. The scope `builtin` is kept.
 */
export function resolveScope(
  item: TrustItem,
  roots: readonly string[],
  executable: Executable | undefined,
): TrustScope {
  if (item.scope !== 'user') return item.scope === 'builtin' ? 'builtin' : 'workspace';
  const own = [item.source, item.root].filter((path) => path !== undefined);
  const program = executable === undefined ? [] : [executable.path, executable.realPath];
  const places = [...own, ...own.map((path) => realLocation(path)), ...program];
  return places.some((path) => roots.some((root) => isInside(path, root))) ? 'workspace' : 'user';
}

/** Returns the base of the item's relative paths. Paths in a user's definition are never relative to the workspace. */
function baseOf({ root, scope, source }: TrustItem, { workspaceDir }: TrustPlace): string {
  if (root !== undefined) return root;
  return scope === 'user' && source !== undefined && isAbsolute(source) ? dirname(source) : workspaceDir;
}

function definitionOf(item: TrustItem): { readonly [key: string]: CanonicalValue } {
  const { kind, name, event, extension, command, args, shell, env, cwd, reads, files, details } = item;
  return { kind, name, event, extension, command, args, shell, env, cwd, reads, patterns: files, details };
}

/**
 * Returns the directory of the definition, if its scripts have to be included. Excludes the workspace itself, where any
 * tool writes, and extension packages, which are included anyway.
 */
function definitionFolder({ source, workspace, root }: LocatedItem): string | undefined {
  const folder = source === undefined ? workspace : dirname(source);
  const isBound = root !== undefined && isInside(folder, root);
  return folder !== workspace && isInside(folder, workspace) && !isBound ? folder : undefined;
}

/** Returns the variables that the host replaces in the command line or sets for the program. */
function variablesOf({ item, root }: LocatedItem, { workspaceDir, projectVariable }: TrustPlace): KnownVariables {
  const isServer = item.kind === 'mcp-server';
  const project = isServer ? 'workspaceFolder' : projectVariable;
  const variables: Record<string, string> = {};
  if (project !== undefined) variables[project] = workspaceDir;
  if (!isServer) Object.assign(variables, item.env);
  if (root === undefined) return variables;
  const inExtension = (value: string) => value.replaceAll(EXTENSION_PATH, () => root);
  const values = Object.entries(variables).map(([name, value]) => [name, inExtension(value)]);
  return { ...Object.fromEntries(values), [EXTENSION_VARIABLE]: root };
}

interface ProgramSearch {
  readonly base: string;
  readonly path: string | undefined;
  readonly roots: readonly string[];
  readonly unseen: boolean;
}

function findExecutable(item: TrustItem, { roots, ...search }: ProgramSearch): Executable | undefined {
  if (item.command === undefined) return undefined;
  const find = (command: string) => resolveExecutable({ ...search, command, exclude: roots });
  const { root, command } = item;
  const named = root ? command.replaceAll(EXTENSION_PATH, () => root) : command;
  const found = item.shell ? findShell(item.shell, find) : find(named);
  if (!('failure' in found)) return found;
  const { failure } = found;
  throw new ItemUnboundError('no-executable', `${failure.message}. ${failure.hint}`, { failure });
}

/** Prefers `bash` from PATH if the hook asks for it, and falls back to `/bin/sh`. */
function findShell(shell: true | 'bash', find: (command: string) => ReturnType<typeof resolveExecutable>) {
  const bash = shell === 'bash' ? find('bash') : undefined;
  return bash === undefined || 'failure' in bash ? find('/bin/sh') : bash;
}

/** Identifies a program by its content if it is one of the item's files, and otherwise by its path. */
function programOf({ realPath }: Executable, files: readonly BoundFile[], folders: Folders): CanonicalValue {
  const { around, root } = folders;
  if (![around, root].some((folder) => folder !== undefined && isInside(realPath, folder))) return { path: realPath };
  const found = files.find((file) => {
    const folder = file.in === 'extension' && root !== undefined ? root : around;
    return join(folder, file.target ?? file.path) === realPath;
  });
  if (found?.sha256 !== undefined) return { path: realPath, sha256: found.sha256 };
  throw new ItemUnboundError('unreadable', `${realPath} is the program, but is missing from the files of the item.`);
}

interface Folders {
  readonly around: string;
  readonly root: string | undefined;
}

function validateTexts({ name, command, args = [], env = {}, cwd, source, root, files = [], reads = [] }: TrustItem) {
  const texts = [name, command, ...args, ...Object.entries(env).flat(), cwd, source, root, ...files, ...reads];
  if (texts.some((text) => text !== undefined && typeof text !== 'string'))
    refuse('its name, command, arguments, variables and paths must be strings');
  if (texts.some((text) => text?.includes('\0'))) refuse('it must not contain a NUL character');
  for (const path of [source, root])
    if (path !== undefined && !isAbsolute(path)) refuse(`"${path}" must be an absolute path`);
  const bad = Object.keys(env).find((variable) => !isVariableName(variable));
  if (bad !== undefined) refuse(`"${bad}" must be a valid variable name`);
}

function validateEnvironment({ env = {} }: TrustItem): void {
  const bad = Object.keys(env).find(isRefusedName);
  if (bad !== undefined) refuse(`it must not set ${bad}, which can make another program run`);
}

function refuse(problem: string): never {
  throw new ItemUnboundError('invalid', `The item cannot be approved: ${problem}.`);
}
