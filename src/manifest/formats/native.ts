import type { LeveledProblem, ManifestProblem } from '../../internal/problem.js';
import { missingPaths } from '../../process/files/relative-path.js';
import type { ManifestContent, ManifestHook, ManifestSkill } from '../extension.js';
import { createReferenceFinder, type ReferenceFinder } from '../settings/reference.js';
import type { Format, ManifestPlace, ManifestReading, ReadManifest } from './format.js';
import { reportKeys } from './keys.js';
import { KEYS, type ManifestFile, manifestSchema } from './native-schema.js';
import { problemOfHook, serverProblems, serverWarnings, settingInHook } from './refused.js';
import { parseAs } from './schema-issue.js';
import { type JsonDocument, lossesOf, parseJsonObject } from './strict-json.js';

/** The manifest format of Keelson. */
export const native: Format = {
  id: 'native',
  file: 'manifest.json',
  // Bundles of MCP servers and browser extensions have this key in a `manifest.json` of their own.
  isForeign: (value) => Object.hasOwn(value, 'manifest_version'),
  read: readPackage,
  argsRequired: true,
  skillsDescribeThemselves: false,
  hasDataFolder: false,
};

async function readPackage(document: JsonDocument, { root }: ManifestPlace): Promise<ManifestReading> {
  const { content, problems } = readNativeManifest(document);
  if (content === undefined) return { problems };
  const missing = await missingPaths(root, { paths: content.skillFolders.slice(1), key: 'skills' });
  return { content, problems: [...problems, ...leveled('warning', missing)] };
}

function readNativeManifest(document: JsonDocument): ManifestReading {
  const { value } = document;
  const lost = lossesOf(document, true);
  const parsed = parseAs(manifestSchema, value);
  if ('problems' in parsed) return { problems: leveled('error', [...lost, ...parsed.problems]) };
  const file = parsed.data;
  const findSettings = createReferenceFinder(file.settings ?? []);
  const hooks = hooksOf(file);
  const refusals = [
    ...lost,
    ...(file.skills ?? []).flatMap((skill, index) => promptProblems(skill, index, findSettings)),
    ...hooks.flatMap((hook) => hookProblems(hook, findSettings)),
  ];
  if (refusals.length > 0) return { problems: leveled('error', refusals) };
  const refused = new Map(hooks.flatMap((hook) => refusalOf(hook)));
  const content = contentOf(file, hooks, (hook) => refused.has(hook));
  const problems = leveled('error', [...refused.values(), ...serverProblems(content)]);
  reportKeys(value, KEYS, { report: (_level, path, message) => problems.push({ level: 'warning', path, message }) });
  return { content, problems };
}

function leveled(level: LeveledProblem['level'], problems: readonly ManifestProblem[]): LeveledProblem[] {
  return problems.map(({ path, message }) => ({ level, path, message }));
}

/** Returns the content of the manifest without the refused hooks. */
function contentOf(
  file: ManifestFile,
  hooks: readonly PlacedHook[],
  isRefused: (hook: PlacedHook) => boolean,
): ManifestContent {
  const { name, version, description, settings = [], skills = [] } = file;
  const unreadGuards = hooks.filter((hook) => isRefused(hook) && hook.onFailure === 'block');
  return {
    name,
    version,
    description,
    settings,
    mcpServers: (file.mcpServers ?? {}) as ManifestContent['mcpServers'],
    hooks: hooks.filter((hook) => !isRefused(hook)).map(({ at: _at, ...hook }) => hook),
    skills: skills.filter((skill) => typeof skill !== 'string'),
    skillFolders: ['skills', ...skills.filter((skill) => typeof skill === 'string')],
    commandPaths: [],
    contextFiles: [],
    excludedTools: [],
    unreadGuards: unreadGuards.length > 0 ? unreadGuards.map((hook) => hook.name) : undefined,
  };
}

interface PlacedHook extends ManifestHook {
  readonly at: string;
}

function hooksOf({ hooks = [] }: ManifestFile): readonly PlacedHook[] {
  if (Array.isArray(hooks)) return hooks.map((hook, index) => ({ ...hook, at: `hooks[${index}]` }));
  const { timeout, hooks: listed = [], ...byEvent } = hooks;
  const placed: readonly PlacedHook[] = [
    ...listed.map((hook, index) => ({ ...hook, at: `hooks.hooks[${index}]` })),
    ...Object.entries(byEvent).flatMap(([key, list]) =>
      list.map((hook, index) => ({ ...hook, event: key, at: `hooks.${key}[${index}]` })),
    ),
  ];
  return timeout === undefined ? placed : placed.map((hook) => ({ timeout, ...hook }));
}

/** Returns the hook with the reason why it cannot be registered. The other hooks of the manifest stay. */
function refusalOf(hook: PlacedHook): (readonly [PlacedHook, ManifestProblem])[] {
  const { at, ...own } = hook;
  const message = problemOfHook(own);
  if (message === undefined) return [];
  return [[hook, { path: at, message: `the hook "${hook.name}" is ignored: ${message}` }]];
}

function hookProblems(hook: PlacedHook, findSettings: ReferenceFinder): ManifestProblem[] {
  const message = settingInHook(hook, findSettings);
  return message === undefined ? [] : [{ path: `${hook.at}.command`, message }];
}

/** Reports references to settings in a prompt, because the model reads the prompt. */
function promptProblems(
  skill: ManifestSkill | string,
  index: number,
  findSettings: ReferenceFinder,
): ManifestProblem[] {
  if (typeof skill === 'string') return [];
  const own = new Set((skill.parameters ?? []).map(({ name }) => `{{${name}}}`));
  const found = findSettings(skill.prompt).filter(({ text }) => !own.has(text.replace(/\s/g, '')));
  return found.map(({ text, setting }) => {
    const message = `${text} would show the setting "${setting.name}" to the model: remove it from the prompt`;
    return { path: `skills[${index}].prompt`, message };
  });
}

/**
 * Parses the text of a `manifest.json`, to check it before publishing. Returns its content or every problem. Never
 * throws. Does not check the files that the manifest names.
 *
 * @example
 * const read = parseManifest('{ "name": "notes", "version": "1.0.0" }');
 * if ('problems' in read) for (const { path, message } of read.problems) console.error(path, message);
 */
export function parseManifest(text: string): ReadManifest {
  const json = parseJsonObject(new TextEncoder().encode(text));
  const { content, problems }: ManifestReading = 'problems' in json ? json : readNativeManifest(json);
  const of = (wanted: LeveledProblem['level']) =>
    problems.filter(({ level }) => level === wanted).map(({ path, message }) => ({ path, message }));
  if (content === undefined) return { problems: of('error') };
  return { content, errors: of('error'), warnings: [...of('warning'), ...serverWarnings(content)] };
}
