import { join, resolve } from 'node:path';
import { isObject } from '../../internal/json.js';
import { pathText } from '../../internal/problem.js';
import { lossText, readJson } from '../../internal/read-json.js';
import { readBytes } from '../../process/files/file-bytes.js';
import { homeFolder } from '../../process/files/home-folder.js';
import { isInside, realLocation } from '../../process/files/location.js';
import type { TrustScope } from '../../trust/item.js';
import { HookFileError } from '../error.js';
import type { HookDialect } from '../hook/event.js';
import type { Report } from './diagnostic.js';
import { parseForeignHooks } from './parse-foreign.js';
import { parseNativeHooks } from './parse-native.js';
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
  // The settings of Gemini CLI may have comments.
  const json = readJson(read.bytes.toString('utf8'), { comments: dialect === 'gemini' });
  if ('problem' in json) throw new HookFileError(path, `${json.problem}.`);
  if (!isObject(json.value)) throw new HookFileError(path, 'it must be a JSON object.');
  // The rest of a file of settings belongs to other programs.
  const lost = json.lost.filter((key) => key.path[0] === 'hooks');
  return { document: json.value, lost: lost.map((key) => `"${pathText(key.path)}": ${lossText(key)}.`) };
}

/** Whose a file is, by where it lies: the stricter of its name and where that leads. */
function scopeOf(path: string, workspaceDir: string): TrustScope {
  const isOurs = isInside(path, workspaceDir) || isInside(realLocation(path), realLocation(workspaceDir));
  return isOurs ? 'workspace' : 'user';
}

const PLACES: Readonly<
  Record<HookDialect, { readonly user: readonly string[]; readonly workspace: readonly string[] }>
> = {
  native: { user: ['.{app}/hooks.json'], workspace: ['.{app}/hooks.json'] },
  claude: {
    user: ['.claude/settings.json'],
    workspace: ['.claude/settings.json', '.claude/settings.local.json', '.claude/hooks.json'],
  },
  codex: { user: ['.codex/hooks.json'], workspace: ['.codex/hooks.json'] },
  gemini: { user: ['.gemini/settings.json'], workspace: ['.gemini/settings.json'] },
};

/** Where an application keeps its files. */
export interface HookPlace {
  readonly workspaceDir: string;
  readonly appName: string;
  readonly userDir?: string | undefined;
}

/** The files in which hooks are kept by custom: the user's first. Any of them may be absent. */
export function standardFiles(dialect: HookDialect, { workspaceDir, appName, userDir }: HookPlace): HookFile[] {
  const at = (folder: string, names: readonly string[], scope: TrustScope) =>
    names.map((name) => ({ path: join(folder, name.replace('{app}', appName)), dialect, scope, optional: true }));
  const { user, workspace } = PLACES[dialect];
  const isNamed = dialect === 'native' && userDir !== undefined;
  const home = isNamed ? userDir : homeFolder();
  const names = isNamed ? ['hooks.json'] : user;
  return [...(home === undefined ? [] : at(home, names, 'user')), ...at(workspaceDir, workspace, 'workspace')];
}

/** Reads the `hooks` of a document, whatever program it was written for. What cannot be read is reported and left out. */
export function parseHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  return source.dialect === 'native' ? parseNativeHooks(document, source) : parseForeignHooks(document, source);
}
