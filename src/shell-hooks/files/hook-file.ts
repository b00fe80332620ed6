import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../../internal/json.js';
import { pathText } from '../../internal/problem.js';
import { lossText, readJson } from '../../internal/read-json.js';
import { readBytes } from '../../process/files/file-bytes.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { isInWorkspace, workspaceRoots } from '../../process/files/workspace.js';
import type { TrustScope } from '../../trust/item.js';
import { dialectOf } from '../dialects/list.js';
import { HookFileError } from '../error.js';
import type { HookDialect } from '../hook/event.js';
import type { Report } from './diagnostic.js';
import { type HookContent, type HookSource, reportOn } from './source.js';

/** A file of hooks. */
export interface HookFile {
  /** Absolute, or relative to the workspace. */
  readonly path: string;
  /** Whose format it has. Default `native`. */
  readonly dialect?: HookDialect | undefined;
  /** Default: `workspace` where it lies there, by name or with links followed, else `user`. */
  readonly scope?: TrustScope | undefined;
  /** The extension that it belongs to, and its folder, absolute. */
  readonly extension?: string | undefined;
  readonly root?: string | undefined;
  /** Whether it may be absent. Default false. */
  readonly optional?: boolean | undefined;
}

/** Larger than any file of hooks. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Each is looked at at its event, before anybody was asked about it; or told of. */
const MOST_HOOKS = 1_000;

/** Reads a file of hooks. Rejects with a `HookFileError` if it is missing or is not a JSON object. */
export async function readHookFile(
  file: HookFile,
  { workspaceDir, report }: { readonly workspaceDir: string; readonly report: Report },
): Promise<HookContent> {
  const path = resolve(workspaceDir, file.path);
  const { dialect = 'native', extension, root } = file;
  const read = await readDocument(path, { isOptional: file.optional === true, dialect });
  if (read === undefined) return { hooks: [] };
  const scope = file.scope ?? scopeOf(path, workspaceDir);
  let told = 0;
  const reportSome: Report = (diagnostic) => {
    told += 1;
    if (told > MOST_HOOKS) throw new HookFileError(path, `more than ${MOST_HOOKS} things in it are wrong.`);
    report(diagnostic);
  };
  const source = { dialect, scope, source: path, extension, root, report: reportSome };
  for (const message of read.lost) reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  const content = parseHooks(read.document, source);
  const { length } = content.hooks;
  if (length > MOST_HOOKS) throw new HookFileError(path, `it has ${length} hooks, more than ${MOST_HOOKS}.`);
  return content;
}

interface Reading {
  readonly isOptional: boolean;
  readonly dialect: HookDialect;
}

async function readDocument(path: string, { isOptional, dialect }: Reading) {
  const read = await readBytes(path, MOST_BYTES);
  if ('problem' in read) {
    if (isOptional && read.isAbsent) return undefined;
    throw new HookFileError(path, read.problem);
  }
  const json = readJson(read.bytes.toString('utf8'), { comments: dialectOf(dialect).hasComments === true });
  if ('problem' in json) throw new HookFileError(path, `${json.problem}.`);
  if (!isObject(json.value)) throw new HookFileError(path, 'it must be a JSON object.');
  // The rest of a file of settings belongs to other programs.
  const lost = json.lost.filter((key) => key.path[0] === 'hooks');
  return { document: json.value, lost: lost.map((key) => `"${pathText(key.path)}": ${lossText(key)}.`) };
}

/** Whose a file is, by where it lies: the stricter of its name and where that leads. */
function scopeOf(path: string, workspaceDir: string): TrustScope {
  return isInWorkspace(path, workspaceDir) ? 'workspace' : 'user';
}

/** Where an application keeps its files. */
export interface HookPlace {
  readonly workspaceDir: string;
  readonly appName: string;
  readonly userDir?: string | undefined;
}

/** The files in which hooks are kept by custom: the user's first. Any of them may be absent. */
export async function standardFiles(dialect: HookDialect, place: HookPlace): Promise<readonly HookFile[]> {
  const { workspaceDir, appName, userDir } = place;
  const { user, workspace } = dialectOf(dialect).places;
  const home = homeFolder();
  const withApp = (name: string) => name.replace('{app}', () => appName);
  const userFiles = user.flatMap((name) => {
    if (name.startsWith(OWN_FOLDER) && userDir !== undefined) return [join(userDir, name.slice(OWN_FOLDER.length))];
    return home === undefined ? [] : [join(home, withApp(name))];
  });
  const files = [
    ...userFiles.map((path) => ({ path, scope: 'user' }) as const),
    ...(workspaceRoots(workspaceDir).length === 0 ? [] : workspace).map(
      (name) => ({ path: join(workspaceDir, withApp(name)), scope: 'workspace' }) as const,
    ),
  ];
  const listed = await Promise.all(
    files.map(async ({ path, scope }) => {
      const paths = await expand(path);
      return paths.map((found) => ({ path: found, dialect, scope, optional: true }));
    }),
  );
  return listed.flat();
}

const OWN_FOLDER = '.{app}/';
const ALL_JSON = '*.json';

/** All files of the folder, by name, for a path that ends in `*.json`. */
async function expand(path: string): Promise<readonly string[]> {
  if (!path.endsWith(ALL_JSON)) return [path];
  const folder = dirname(path);
  const names = await readdir(folder).catch(({ code }: NodeJS.ErrnoException) => code);
  // A folder that cannot be listed is read like a file, which says what is wrong with it.
  if (!Array.isArray(names)) return names === 'ENOENT' ? [] : [folder];
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * Reads the `hooks` of a document by the rules of its dialect. Reports what cannot be read and leaves it out.
 *
 * @example
 * const document = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './guard.sh' }] }] } };
 * const content = parseHooks(document, { dialect: 'claude', scope: 'user', report: console.warn });
 */
export function parseHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  return dialectOf(source.dialect).parse(document, source);
}
