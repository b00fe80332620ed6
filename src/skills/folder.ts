import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { replaceTexts } from '../internal/placeholder.js';
import { diagnosticsOf, type LeveledProblem, type ManifestDiagnostic } from '../internal/problem.js';
import { readText } from '../process/files/file-bytes.js';
import { isThere, resolveInside } from '../process/files/relative-path.js';
import { SkillUnavailableError } from './error.js';
import { readCommandFile, readSkillFile, SKILL_FILE, type SkillFile } from './file.js';
import type { OpenedFolder } from './gated-folder.js';
import type { SkillEntry, SkillScope } from './skill.js';

/** The variable with the data directory of a Claude Code plugin. */
export const DATA_VARIABLE = 'CLAUDE_PLUGIN_DATA';

const MAX_BYTES = 512 * 1024;
/** The placeholder for the arguments that a user types after the name of a skill. */
const ARGUMENTS = /\$ARGUMENTS\b(?!\[)/g;

/** A Markdown file that is a skill by itself, and the name of the skill. */
interface CommandFile {
  /** Path relative to the approved directory. */
  readonly file: string;
  readonly name: string;
}

/**
 * The location of a skill: a directory with a SKILL.md, or a command file, inside a directory that is approved as a
 * whole.
 */
export interface SkillPlace {
  /** Opens the approved directory, after the approval that it may need. */
  readonly open: () => Promise<OpenedFolder>;
  /** The skill's directory relative to the approved directory. `.` if they are the same. */
  readonly path: string;
  /** The absolute path of the skill's directory. */
  readonly folder: string;
  /** Set for a command file, which has no directory of its own. */
  readonly command?: CommandFile | undefined;
  readonly scope: SkillScope;
  readonly extension?: string | undefined;
  /** True if the front matter and the description may be missing, as in Claude Code. */
  readonly describesItself?: boolean | undefined;
  /** The data directory of a Claude Code plugin. */
  readonly data?: string | undefined;
  /** Finds the references to settings of the extension package in a string. */
  readonly findSettings?: ((text: string) => readonly { readonly text: string }[]) | undefined;
}

/**
 * Returns the path itself if it holds a SKILL.md, or else its subdirectories that do, sorted. Returns an empty list if
 * the directory is missing or unreadable.
 *
 * A SKILL.md may be a link that leads outside the directory. Its directory is returned as well, and reading the file
 * fails later.
 */
export async function findSkillFolders(root: string, path: string): Promise<readonly string[]> {
  const folder = path === '.' ? root : await resolveInside(root, path);
  if (folder === undefined) return [];
  if (await isThere(join(folder, SKILL_FILE))) return [path];
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.sort().map(async (name) => ((await isThere(join(folder, name, SKILL_FILE))) ? [name] : [])),
  );
  return found.flat().map((name) => (path === '.' ? name : join(path, name)));
}

/**
 * Returns the command file at the path, or all command files below it, sorted. The name of a subdirectory becomes a
 * prefix.
 */
export async function findCommands(
  root: string,
  path: string,
  above: readonly string[] = [],
): Promise<readonly CommandFile[]> {
  const found = await resolveInside(root, path);
  // Reading a link that leads outside fails later, with a diagnostic.
  if (found === undefined) return above.length > 0 ? commandsAt(path) : [];
  // A link to a directory above it would form a cycle.
  if (above.includes(found)) return [];
  const entries = await readdir(found, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return commandsAt(path);
  const inner = entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(async (entry) => {
      const inside = join(path, entry.name);
      if (entry.isFile()) return commandsAt(inside);
      const commands = await findCommands(root, inside, [...above, found]);
      const isFile = commands.length === 1 && commands[0]?.file === inside;
      return isFile ? commands : commands.map((it) => ({ ...it, name: `${entry.name}-${it.name}` }));
    });
  return (await Promise.all(inner)).flat();
}

function commandsAt(path: string): readonly CommandFile[] {
  return path.endsWith('.md') ? [{ file: path, name: basename(path, '.md') }] : [];
}

/**
 * Loads the catalogue entry of a skill. Its instructions are read only when the skill is used. Calls `place.open`
 * unless `folder` is given.
 */
export async function loadFolderSkill(
  place: SkillPlace,
  folder?: OpenedFolder,
): Promise<{
  readonly entry?: SkillEntry;
  /** The content of the SKILL.md or of the command file. */
  readonly text?: string;
  readonly isDenied?: boolean;
  readonly diagnostics: readonly ManifestDiagnostic[];
}> {
  const opened = await read(place, folder ?? (await place.open()));
  if ('problem' in opened) {
    const problem = { level: 'warning', path: '', message: opened.problem } as const;
    return { isDenied: opened.isDenied, diagnostics: diagnose(place, [problem]) };
  }
  const { skill: file, problems } = await parse(opened.text, place);
  if (file === undefined) return { diagnostics: diagnose(place, problems) };
  const settings = new Set(place.findSettings?.(file.body).map(({ text }) => text));
  const unreplaced = [...settings].map((text): LeveledProblem => {
    const message = `${text} is not replaced: settings are never shown to the model`;
    return { level: 'warning', path: '', message };
  });
  const entry = { skill: describe(file, place), open: () => activate(place, file.name) };
  return { entry, text: opened.text, diagnostics: diagnose(place, [...problems, ...unreplaced]) };
}

function parse(text: string, { folder, command, describesItself = false }: SkillPlace) {
  if (command !== undefined) return readCommandFile(text, command.name);
  return readSkillFile(text, basename(folder), describesItself);
}

async function read(
  { path, command }: SkillPlace,
  opened: OpenedFolder,
): Promise<SkillText | { problem: string; isDenied: boolean }> {
  if ('problem' in opened) return opened;
  const folder = path === '.' ? opened.root : await resolveInside(opened.root, path);
  const name = command === undefined ? SKILL_FILE : basename(command.file);
  const file = folder === undefined ? undefined : await resolveInside(opened.root, join(path, name));
  if (folder === undefined || file === undefined) {
    return { problem: `${name} is missing, or a link leads outside of the directory`, isDenied: false };
  }
  const text = await readText(file, MAX_BYTES);
  return 'problem' in text ? { ...text, isDenied: false } : { ...text, folder, root: opened.root };
}

interface SkillText {
  readonly text: string;
  readonly folder: string;
  /** The approved directory. */
  readonly root: string;
}

async function activate(place: SkillPlace, name: string) {
  const opened = await read(place, await place.open());
  if ('problem' in opened) throw new SkillUnavailableError(name, opened.problem);
  const { skill } = await parse(opened.text, place);
  if (skill === undefined) throw new SkillUnavailableError(name, 'the file is no longer valid');
  const { folder, root } = opened;
  const folders: Record<string, string> = { CLAUDE_SKILL_DIR: folder };
  if (place.extension !== undefined) Object.assign(folders, { CLAUDE_PLUGIN_ROOT: root, extensionPath: root });
  if (place.data !== undefined) folders[DATA_VARIABLE] = place.data;
  const prompt = replaceTexts(skill.body.replace(ARGUMENTS, '{{arguments}}'), folders);
  return place.command === undefined ? { prompt, folder, root } : { prompt };
}

function describe({ body, ...file }: SkillFile, place: SkillPlace) {
  const { extension, scope } = place;
  const id = extension === undefined ? file.name : `${extension}:${file.name}`;
  const parameters = body.search(ARGUMENTS) < 0 ? [] : [{ name: 'arguments' }];
  return { ...file, id, parameters, extension, scope, source: sourceOf(place) };
}

function sourceOf({ folder, command }: SkillPlace): string {
  return join(folder, command === undefined ? SKILL_FILE : basename(command.file));
}

function diagnose(place: SkillPlace, problems: readonly LeveledProblem[]): readonly ManifestDiagnostic[] {
  const { folder, command, extension } = place;
  return diagnosticsOf({ extension, source: command === undefined ? folder : sourceOf(place) }, problems);
}
