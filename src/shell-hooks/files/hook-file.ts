import { join, resolve } from 'node:path';
import { describeError } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { readJsonShape } from '../../internal/json-keys.js';
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

/** Reads a file of hooks. Rejects with a `HookFileError` where there is none, or it is no JSON object. */
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
  for (const { key } of read.lost) {
    const message = `"${key}" is there twice in one object: only the last one counts.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  }
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
  const given = read.bytes.toString('utf8').replace(/^\uFEFF/, '');
  const text = dialect === 'gemini' ? withoutComments(given) : given;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw new HookFileError(path, `it is no JSON: ${describeError(cause)}`, { cause });
  }
  if (!isObject(document)) throw new HookFileError(path, 'it is no JSON object.');
  // The rest of a file of settings is not ours.
  const lost = readJsonShape(text).repeated.filter(({ key, under = key }) => under === 'hooks');
  return { document, lost };
}

/** The settings of Gemini CLI may have comments, and nothing else that is no JSON. */
function withoutComments(text: string): string {
  const pieces = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|\/\/[^\n]*|\/\*[^*]*(?:\*(?!\/)[^*]*)*(?:\*\/)?/g;
  return text.replace(pieces, (piece) => (piece.startsWith('"') ? piece : ' '));
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
