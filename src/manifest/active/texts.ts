import { dirname, join } from 'node:path';
import { diagnosticOf, type ManifestDiagnostic } from '../../internal/problem.js';
import { readText } from '../../process/files/file-bytes.js';
import { resolveInside } from '../../process/files/relative-path.js';
import { withDistinctIds } from '../../skills/distinct-ids.js';
import { SkillUnavailableError } from '../../skills/error.js';
import { firstOfEach } from '../../skills/first-of-each.js';
import { findCommands, findSkillFolders, loadFolderSkill, type SkillPlace } from '../../skills/folder.js';
import { gatedFolder, type OpenedFolder } from '../../skills/gated-folder.js';
import type { SkillEntry } from '../../skills/skill.js';
import type { DeniedDecision } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import type { ExtensionPackage, ManifestSkill } from '../extension.js';
import { type FolderReading, readExtensionFolder } from '../extension-folder.js';
import { formatOf } from '../formats/list.js';
import { createReferenceFinder } from '../settings/reference.js';
import { dataFolder } from './plugin-data.js';
import { type JudgedExtension, promptItem } from './trust-items.js';

const MAX_CONTEXT_BYTES = 256 * 1024;

/** Texts of an extension package for the model, and the tools that it hides from the model. */
export interface ExtensionTexts {
  readonly skills: readonly SkillEntry[];
  /** The text that is added to the system instructions. */
  readonly context: string;
  /** Names of hidden tools. */
  readonly excludedTools: readonly string[];
  /** Set if the texts must not be read: the reason, and the decision of the gate if the gate denied them. */
  readonly denied: TextDenial | undefined;
  readonly diagnostics: readonly ManifestDiagnostic[];
}

interface TextDenial {
  readonly problem: string;
  readonly decision?: DeniedDecision | undefined;
}

/** The result for an extension package without texts, or without approved texts. */
export const NO_TEXTS = { skills: [], context: '', excludedTools: [] } as const;

/** Options of `loadExtensionTexts`. */
export interface TextReading extends Omit<FolderReading, 'scope'> {
  readonly gate: TrustGate;
  readonly userDir: string;
}

/** Reads the approved texts of an extension package for the model. One approval covers them and the hidden tools. */
export async function loadExtensionTexts(judged: JudgedExtension, reading: TextReading): Promise<ExtensionTexts> {
  const { extension } = judged;
  const nothing = { ...NO_TEXTS, denied: undefined, diagnostics: [] };
  if (!(await changesRequests(extension))) return nothing;
  const openFolder = gatedFolder(reading.gate, promptItem(judged));
  const open = async () => checked(await openFolder(), extension, reading);
  const opened = await open();
  if ('problem' in opened) return { ...nothing, denied: opened };
  const place = { open: openFolder, data: dataFolder(extension, reading.userDir), scope: extension.scope };
  const loaded = await loadFolders(extension, place, opened.root);
  const context = await readContext(extension, opened.root);
  const skills = [...extension.skills.map((skill) => entryOf(extension, skill, open)), ...loaded.skills];
  const named = addCommands(extension.name, skills, loaded.commands);
  return {
    skills: named.skills,
    context: context.text,
    excludedTools: extension.excludedTools,
    denied: undefined,
    diagnostics: [...loaded.diagnostics, ...named.diagnostics, ...context.diagnostics],
  };
}

/** Returns true if the extension package adds texts to the model's requests, or hides tools from the model. */
export async function changesRequests(extension: ExtensionPackage): Promise<boolean> {
  if (extension.skills.length > 0 || extension.excludedTools.length > 0) return true;
  const paths = [...extension.skillFolders, ...extension.commandPaths, ...extension.contextFiles];
  const found = await Promise.all(paths.map((path) => resolveInside(extension.root, path)));
  return found.some((path) => path !== undefined);
}

/**
 * Returns a denial if the approved directory has another manifest than the loaded one. The manifest is read before the
 * approval.
 */
async function checked(
  opened: OpenedFolder,
  extension: ExtensionPackage,
  reading: TextReading,
): Promise<{ readonly root: string } | TextDenial> {
  if ('problem' in opened || opened.root === extension.root) return opened;
  const { extension: approved } = await readExtensionFolder(opened.root, { ...reading, scope: extension.scope });
  const isSame = approved !== undefined && contentText(approved) === contentText(extension);
  return isSame ? opened : { problem: 'its manifest has changed since it was loaded: reload the extensions' };
}

function entryOf(
  { name: extension, scope, source }: ExtensionPackage,
  skill: ManifestSkill,
  open: () => Promise<{ readonly root: string } | TextDenial>,
): SkillEntry {
  const id = `${extension}:${skill.name}`;
  return {
    skill: { ...skill, id, parameters: skill.parameters ?? [], extension, scope, source },
    async open() {
      const opened = await open();
      if ('problem' in opened) throw new SkillUnavailableError(id, opened.problem);
      return { prompt: skill.prompt };
    },
  };
}

function contentText({ root: _root, source: _source, scope: _scope, ...content }: ExtensionPackage): string {
  return JSON.stringify(content);
}

async function loadFolders(
  extension: ExtensionPackage,
  shared: Pick<SkillPlace, 'open' | 'data' | 'scope'>,
  root: string,
) {
  const skills: SkillEntry[] = [];
  const commands: SkillEntry[] = [];
  const diagnostics: ManifestDiagnostic[] = [];
  const { name, format } = extension;
  const findSettings = createReferenceFinder(extension.settings);
  const describesItself = formatOf(format).skillsDescribeThemselves;
  for (const { path, command } of await findSkills(extension, root)) {
    const place = { ...shared, findSettings, path, command, folder: join(extension.root, path) };
    const loaded = await loadFolderSkill({ ...place, describesItself, extension: name }, { root });
    diagnostics.push(...loaded.diagnostics);
    if (loaded.entry !== undefined) (command === undefined ? skills : commands).push(loaded.entry);
  }
  return { skills, commands, diagnostics };
}

/**
 * Adds the commands to the skills. If a skill and a command have the same id, the skill is used, as in Claude Code. If
 * two skills or two commands have the same id, the first is used.
 */
function addCommands(extension: string, skills: readonly SkillEntry[], commands: readonly SkillEntry[]) {
  const diagnostics: ManifestDiagnostic[] = [];
  const leaveOut = ({ skill: { name, source } }: SkillEntry, holder: SkillEntry) => {
    const message = `the command is left out, because ${holder.skill.source} has the same name "${name}"`;
    const level = commands.includes(holder) ? 'warning' : 'info';
    diagnostics.push(diagnosticOf(level, { extension, source }, [{ path: 'name', message }]));
  };
  const all = [...withDistinctIds(skills), ...commands];
  return { skills: firstOfEach(all, ({ skill }) => skill.id, leaveOut), diagnostics };
}

/** Lists each skill directory and command file once, directories first. */
async function findSkills({ skillFolders, commandPaths }: ExtensionPackage, root: string) {
  const folders = await Promise.all(skillFolders.map((path) => findSkillFolders(root, path)));
  const commands = await Promise.all(commandPaths.map((path) => findCommands(root, path)));
  return [
    ...[...new Set(folders.flat())].map((path) => ({ path, command: undefined })),
    ...new Map(commands.flat().map((command) => [command.file, { path: dirname(command.file), command }])).values(),
  ];
}

/** Reads the context files. A missing file causes no diagnostic, because some programs name a file by default. */
async function readContext({ name, root: folder, contextFiles }: ExtensionPackage, root: string) {
  const texts: string[] = [];
  const diagnostics: ManifestDiagnostic[] = [];
  for (const path of contextFiles) {
    const found = await resolveInside(root, path);
    if (found === undefined) continue;
    const read = await readText(found, MAX_CONTEXT_BYTES);
    if ('text' in read) texts.push(read.text.trim());
    else {
      const place = { extension: name, source: join(folder, path) };
      const message = `it is not added to the instructions: ${read.problem}`;
      diagnostics.push(diagnosticOf('warning', place, [{ path: '', message }]));
    }
  }
  const text = texts.filter((one) => one !== '').join('\n\n');
  return { diagnostics, text: text === '' ? '' : contextOf(name, text) };
}

function contextOf(name: string, text: string): string {
  const plain = text.replace(/<(?=\/?extension\b)/gi, '&lt;');
  return `<extension name=${JSON.stringify(name)}>\n${plain}\n</extension>`;
}
