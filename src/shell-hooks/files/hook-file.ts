import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../../internal/json.js';
import { pathText } from '../../internal/problem.js';
import { lossText, readJson } from '../../internal/read-json.js';
import { readBytes } from '../../process/files/file-bytes.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { isInWorkspace, workspaceRoots } from '../../process/files/workspace.js';
import type { HookDialect } from '../../programs/hook-event.js';
import type { TrustScope } from '../../trust/item.js';
import { dialectOf } from '../dialects/dialect.js';
import { type HookContent, type HookSource, type Report, reportOn } from '../hook/diagnostic.js';
import { HookFileError } from '../hook/error.js';

/** A hook file to load. */
export interface HookFile {
  /** Absolute file path, or relative to the workspace. */
  readonly path: string;
  /** Format of the file. Default `native`. */
  readonly dialect?: HookDialect | undefined;
  /** Default: `workspace` if the path or its symbolic link target lies in the workspace, else `user`. */
  readonly scope?: TrustScope | undefined;
  /** Name of the extension package that contains the file. `root` is the absolute path of that package. */
  readonly extension?: string | undefined;
  readonly root?: string | undefined;
  /** If true, a missing file is not an error. Default false. */
  readonly optional?: boolean | undefined;
}

/** The largest size of a hook file in bytes. Real hook files are far smaller. */
const MOST_BYTES = 4 * 1024 * 1024;
/**
 * The largest number of hooks of one file, because each hook costs time at its event even before its approval. Limits
 * the diagnostics of one file too.
 */
const MOST_HOOKS = 1_000;

/** Reads a hook file. Rejects with a `HookFileError` if the file is missing or is not a JSON object. */
export async function readHookFile(
  file: HookFile,
  { workspaceDir, report }: { readonly workspaceDir: string; readonly report: Report },
): Promise<HookContent> {
  const path = resolve(workspaceDir, file.path);
  const { dialect = 'native', extension, root } = file;
  const read = await readDocument(path, file);
  if (read === undefined) return { hooks: [] };
  const scope = file.scope ?? (isInWorkspace(path, workspaceDir) ? 'workspace' : 'user');
  let reported = 0;
  const reportSome: Report = (diagnostic) => {
    reported += 1;
    if (reported > MOST_HOOKS) throw new HookFileError(path, `it has more than ${MOST_HOOKS} errors.`);
    report(diagnostic);
  };
  const source = { dialect, scope, source: path, extension, root, report: reportSome };
  for (const message of read.lost) reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  const content = parseHooks(read.document, source);
  const { length } = content.hooks;
  if (length > MOST_HOOKS) throw new HookFileError(path, `it must have at most ${MOST_HOOKS} hooks, got ${length}.`);
  return content;
}

async function readDocument(path: string, { optional, dialect = 'native' }: HookFile) {
  const read = await readBytes(path, MOST_BYTES);
  if ('problem' in read) {
    if (optional && read.isAbsent) return undefined;
    throw new HookFileError(path, read.problem);
  }
  const json = readJson(read.bytes.toString('utf8'), { comments: dialectOf(dialect).facts.form.comments === true });
  if ('problem' in json) throw new HookFileError(path, `${json.problem}.`);
  if (!isObject(json.value)) throw new HookFileError(path, 'it must be a JSON object.');
  // Other keys of a settings file belong to other programs.
  const lost = json.lost.filter((key) => key.path[0] === 'hooks');
  return { document: json.value, lost: lost.map((key) => `"${pathText(key.path)}": ${lossText(key)}.`) };
}

/** The directories that contain the hook files of an application. */
export interface HookPlace {
  readonly workspaceDir: string;
  readonly appName: string;
  readonly userDir?: string | undefined;
}

/** Returns the standard hook files of a dialect, with the user's files first. Each file may be missing. */
export async function standardFiles(dialect: HookDialect, place: HookPlace): Promise<readonly HookFile[]> {
  const { workspaceDir, appName, userDir } = place;
  const { user, workspace } = dialectOf(dialect).facts.files;
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

/**
 * Returns the JSON files of a directory, sorted by name, if the path ends in `*.json`. Otherwise returns the path
 * itself.
 */
async function expand(path: string): Promise<readonly string[]> {
  if (!path.endsWith(ALL_JSON)) return [path];
  const folder = dirname(path);
  const names = await readdir(folder).catch(({ code }: NodeJS.ErrnoException) => code);
  // Reading the path of an unreadable directory as a file reports the problem.
  if (!Array.isArray(names)) return names === 'ENOENT' ? [] : [folder];
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * Reads the `hooks` of a parsed document by the rules of its dialect. Reports invalid hooks and leaves them out.
 *
 * @example
 * const document = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './guard.sh' }] }] } };
 * const content = parseHooks(document, { dialect: 'claude', scope: 'user', report: console.warn });
 */
export function parseHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  return dialectOf(source.dialect).parse(document, source);
}
