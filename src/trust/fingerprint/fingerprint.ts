import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isRefusedName, isVariableName } from '../../process/environment.js';
import { type Executable, resolveExecutable } from '../../process/executable.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import { ItemUnboundError } from '../error.js';
import { EXTENSION_PATH, EXTENSION_VARIABLE, type TrustItem, type TrustPlace, type TrustScope } from '../item.js';
import { type BoundFile, type FileSink, sha256Of } from './bound-file.js';
import { type BoundFiles, bindFiles } from './bound-files.js';
import { type CanonicalValue, canonicalJson } from './canonical-json.js';
import type { KnownVariables } from './command-line.js';

/** An item and where it is. None of the paths but `cwd` has links in it. */
export interface LocatedItem {
  readonly item: TrustItem;
  /** Whose it is, by where it lies. */
  readonly scope: TrustScope;
  readonly workspace: string;
  readonly source: string | undefined;
  readonly root: string | undefined;
  readonly cwd: string;
  readonly executable: Executable | undefined;
}

/** An item, and the one value that stands for all of it. */
export interface Fingerprint extends LocatedItem, BoundFiles {
  /** `sha256:` and 64 hexadecimal digits, over the kind, `/v1`, a line feed and the canonical JSON of `document`. */
  readonly digest: string;
  readonly document: { readonly [key: string]: CanonicalValue };
}

/**
 * Finds the program of an item, and whose item it is. Throws an `ItemUnboundError` where it has none. One that was
 * `decided` on has been validated, and what is wrong with a program that is given by its path is left to its start.
 */
export function locateItem(item: TrustItem, place: TrustPlace, decided = false): LocatedItem {
  if (!decided) validateTexts(item);
  const cwd = resolve(item.root ?? place.workspaceDir, item.cwd ?? '.');
  const workspace = realLocation(place.workspaceDir);
  const root = item.root === undefined ? undefined : realLocation(item.root);
  const source = item.source === undefined ? undefined : realLocation(item.source);
  const roots = workspaceRoots(place.workspaceDir);
  const executable = findExecutable(item, { base: baseOf(item, place), path: place.path, roots, unseen: decided });
  const scope = resolveScope(item, roots, executable);
  if (scope === 'workspace') validateEnvironment(item);
  return { item, scope, workspace, source, root, cwd, executable };
}

/** Computes what an item is bound by. Rejects with an `ItemUnboundError` if any part of it cannot be read. */
export function fingerprintItem(item: TrustItem, place: TrustPlace, sink?: FileSink): Promise<Fingerprint> {
  return fingerprintLocated(locateItem(item, place), place, sink);
}

/** The same, of an item that was found and checked just now. */
export async function fingerprintLocated(
  located: LocatedItem,
  place: TrustPlace,
  sink?: FileSink,
): Promise<Fingerprint> {
  const { item, scope, workspace, source, root, cwd, executable } = located;
  const around =
    scope === 'user' && source !== undefined
      ? ({ in: 'definition', named: dirname(item.source ?? source), real: dirname(source) } as const)
      : ({ in: 'workspace', named: place.workspaceDir, real: workspace } as const);
  const places = {
    ...{ around, root, cwd, program: executable?.path, limits: place.limits },
    definitions: scope === 'workspace' ? definitionFolder(located) : undefined,
    variables: variablesOf(located, place),
  };
  const bound = await bindFiles(item, places, sink);
  const document = {
    ...definitionOf(item),
    ...{ scope, source, root, files: bound.files },
    // The user's own items are the same wherever they run.
    ...(scope === 'workspace' && { workspace, cwd }),
    executable: executable && programOf(executable, bound.files, { around: around.real, root }),
  };
  const digest = `sha256:${sha256Of(`${item.kind}/v1\n${canonicalJson(document)}`)}`;
  return { ...located, ...bound, digest, document };
}

/** The digest of an item, as it is shown, stored and compared. */
export async function digestOf(item: TrustItem, place: TrustPlace): Promise<string> {
  return (await fingerprintItem(item, place)).digest;
}

/**
 * Whose an item is. What a loader takes for the user's becomes the workspace's where its definition, its folder or its
 * program lies in the workspace, by name or with links followed. What the host gives itself stays the host's.
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

/** What the relative paths of an item are relative to. Those of a user's definition never lead into the workspace. */
function baseOf({ root, scope, source }: TrustItem, { workspaceDir }: TrustPlace): string {
  if (root !== undefined) return root;
  return scope === 'user' && source !== undefined && isAbsolute(source) ? dirname(source) : workspaceDir;
}

function definitionOf(item: TrustItem): { readonly [key: string]: CanonicalValue } {
  const { kind, name, event, extension, command, args, shell, env, cwd, reads, files, details } = item;
  return { kind, name, event, extension, command, args, shell, env, cwd, reads, patterns: files, details };
}

/** The folder of the definition; never the workspace itself, in which any tool writes, nor an extension: all of it counts. */
function definitionFolder({ source, workspace, root }: LocatedItem): string | undefined {
  const folder = source === undefined ? workspace : dirname(source);
  const isBound = root !== undefined && isInside(folder, root);
  return folder !== workspace && isInside(folder, workspace) && !isBound ? folder : undefined;
}

/** The variables that the host replaces, or sets for the program. */
function variablesOf({ item, root }: LocatedItem, { workspaceDir, projectVariable }: TrustPlace): KnownVariables {
  const isServer = item.kind === 'mcp-server';
  const project = isServer ? 'workspaceFolder' : projectVariable;
  const variables = { ...(project !== undefined && { [project]: workspaceDir }), ...(!isServer && item.env) };
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

/** A text for bash is most often one for any shell. */
function findShell(shell: true | 'bash', find: (command: string) => ReturnType<typeof resolveExecutable>) {
  const bash = shell === 'bash' ? find('bash') : undefined;
  return bash === undefined || 'failure' in bash ? find('/bin/sh') : bash;
}

/** A program that comes along with the item counts by its bytes, any other by where it is. */
function programOf({ realPath }: Executable, files: readonly BoundFile[], folders: Folders): CanonicalValue {
  const { around, root } = folders;
  if (![around, root].some((folder) => folder !== undefined && isInside(realPath, folder))) return { path: realPath };
  const found = files.find((file) => {
    const folder = file.in === 'extension' && root !== undefined ? root : around;
    return join(folder, file.target ?? file.path) === realPath;
  });
  if (found?.sha256 !== undefined) return { path: realPath, sha256: found.sha256 };
  throw new ItemUnboundError('unreadable', `${realPath} is its program, and was not among its files.`);
}

interface Folders {
  readonly around: string;
  readonly root: string | undefined;
}

function validateTexts({ name, command, args = [], env = {}, cwd, source, root, files = [], reads = [] }: TrustItem) {
  const texts = [name, command, ...args, ...Object.entries(env).flat(), cwd, source, root, ...files, ...reads];
  if (texts.some((text) => text !== undefined && typeof text !== 'string')) refuse('some of it is no text');
  if (texts.some((text) => text?.includes('\0'))) refuse('it holds a NUL character');
  for (const path of [source, root]) if (path !== undefined && !isAbsolute(path)) refuse(`"${path}" is not absolute`);
  const bad = Object.keys(env).find((variable) => !isVariableName(variable));
  if (bad !== undefined) refuse(`"${bad}" is no name of a variable`);
}

function validateEnvironment({ env = {} }: TrustItem): void {
  const bad = Object.keys(env).find(isRefusedName);
  if (bad !== undefined) refuse(`it sets ${bad}, which can make another program run`);
}

function refuse(problem: string): never {
  throw new ItemUnboundError('invalid', `It cannot be approved: ${problem}.`);
}
