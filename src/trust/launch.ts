import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isRefusedName, isVariableName } from '../process/environment.js';
import { type Executable, resolveExecutable } from '../process/executable.js';
import { isInAny, isInside, realLocation } from '../process/files/location.js';
import { findBadExecutable } from '../process/spawn-failure.js';
import { ItemUnboundError } from './error.js';
import { EXTENSION_PATH, EXTENSION_VARIABLE, type TrustItem, type TrustPlace, type TrustScope } from './item.js';

/** The exact command to spawn. */
export interface TrustedLaunch {
  /** The absolute path of the program, with links resolved. */
  readonly command: string;
  /** The path of the program before links were resolved. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Environment variables that the definition of the item adds. */
  readonly env: Readonly<Record<string, string>>;
}

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

/** Resolves the paths of a valid item and finds its program. Throws an `ItemUnboundError` if the program is missing. */
export function locateItem(item: TrustItem, place: TrustPlace): LocatedItem {
  const cwd = resolve(item.root ?? place.workspaceDir, item.cwd ?? '.');
  const root = item.root === undefined ? undefined : realLocation(item.root);
  const source = item.source === undefined ? undefined : realLocation(item.source);
  const executable = findExecutable(item, place);
  return { item, scope: scopeOf(item, place, executable), workspace: place.workspace, source, root, cwd, executable };
}

/**
 * Returns the scope of an item. The scope `user` becomes `workspace` if the definition, the directory or the program of
 * the item lies in the workspace, as named or with links followed. The scope `builtin` is kept.
 */
export function scopeOf(item: TrustItem, { roots }: TrustPlace, executable?: Executable): TrustScope {
  if (item.scope !== 'user') return item.scope === 'builtin' ? 'builtin' : 'workspace';
  const places = [item.source, item.root, executable?.path].filter((path) => path !== undefined);
  return places.some((path) => isInAny(path, roots)) ? 'workspace' : 'user';
}

function findExecutable(item: TrustItem, place: TrustPlace): Executable | undefined {
  const { command, shell, root } = item;
  if (command === undefined) return undefined;
  const search = { base: baseOf(item, place), path: place.path, exclude: place.roots };
  const named = root === undefined ? command : command.replaceAll(EXTENSION_PATH, () => root);
  const bash = shell === 'bash' ? resolveExecutable({ ...search, command: 'bash' }) : undefined;
  const found =
    bash !== undefined && !('failure' in bash) && findBadExecutable(bash.realPath) === undefined
      ? bash
      : resolveExecutable({ ...search, command: shell ? '/bin/sh' : named });
  if (!('failure' in found)) return found;
  const { failure } = found;
  throw new ItemUnboundError('no-executable', `${failure.message}. ${failure.hint}`, { failure });
}

/** Returns the base of the item's relative paths. Paths in a user's definition are never relative to the workspace. */
function baseOf({ root, scope, source }: TrustItem, { workspaceDir }: TrustPlace): string {
  if (root !== undefined) return root;
  return scope === 'user' && source !== undefined && isAbsolute(source) ? dirname(source) : workspaceDir;
}

/**
 * Returns how to start an item. If a copy of its extension package is given, paths in the package are moved to the
 * copy.
 */
export function launchOf(located: LocatedItem, snapshot: string | undefined): TrustedLaunch | undefined {
  const { item, executable, cwd } = located;
  if (executable === undefined || item.command === undefined) return undefined;
  const { command, args = [], env = {}, shell } = item;
  const root = snapshot ?? item.root;
  const move = (path: string) => moved(path, located, snapshot);
  const expand = (text: string) => (root === undefined ? text : move(text.replaceAll(EXTENSION_PATH, () => root)));
  const given = args.map(expand);
  const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value)]));
  return {
    command: move(executable.realPath),
    argv0: move(executable.path),
    cwd: move(cwd),
    args: shell ? ['-c', command, executable.path, ...given] : given,
    env: shell && root !== undefined ? { ...variables, [EXTENSION_VARIABLE]: root } : variables,
  };
}

/** Returns the path in the copy, if the original lies in the extension package. */
function moved(path: string, { item, root }: LocatedItem, snapshot: string | undefined): string {
  if (snapshot === undefined || !isAbsolute(path)) return path;
  const home = [item.root, root].find((folder) => folder !== undefined && isInside(path, folder));
  return home === undefined ? path : join(snapshot, relative(home, path));
}

/** Throws an `ItemUnboundError` if the strings of an item cannot be used. */
export function validateItem(item: TrustItem): void {
  const { name, command, args = [], env = {}, cwd, source, root, files = [], reads = [] } = item;
  const texts = [name, command, ...args, ...Object.entries(env).flat(), cwd, source, root, ...files, ...reads];
  if (texts.some((text) => text !== undefined && typeof text !== 'string'))
    refuse('its name, command, arguments, variables and paths must be strings');
  if (texts.some((text) => text?.includes('\0'))) refuse('it must not contain a NUL character');
  for (const path of [source, root])
    if (path !== undefined && !isAbsolute(path)) refuse(`"${path}" must be an absolute path`);
  const bad = Object.keys(env).find((variable) => !isVariableName(variable));
  if (bad !== undefined) refuse(`"${bad}" must be a valid variable name`);
}

/** Throws an `ItemUnboundError` if an item of the workspace sets a variable that can make another program run. */
export function validateEnvironment({ env = {} }: TrustItem): void {
  const bad = Object.keys(env).find(isRefusedName);
  if (bad !== undefined) refuse(`it must not set ${bad}, which can make another program run`);
}

function refuse(problem: string): never {
  throw new ItemUnboundError('invalid', `The item cannot be approved: ${problem}.`);
}
