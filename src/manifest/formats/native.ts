import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { lossText } from '../../internal/read-json.js';
import { missingPaths, problemOfRelativePath } from '../../process/files/relative-path.js';
import { HOOK_EVENTS, isHookEvent } from '../../programs/hook-event.js';
import type { ManifestContent, ManifestHook, ManifestSkill, SettingDefinition } from '../extension.js';
import { createReferenceFinder, type ReferenceFinder } from '../settings/reference.js';
import { expectedOf, fitsSetting } from '../settings/type.js';
import type { Format, ManifestPlace, ReadManifest } from './format.js';
import { reportKeys } from './keys.js';
import { KEYS, type ManifestFile, manifestSchema } from './native-schema.js';
import { problemOfHook, serverProblems, serverWarnings, settingInHook } from './refused.js';
import { problemsOfIssues } from './schema-issue.js';
import { type JsonDocument, parseJsonObject } from './strict-json.js';

/** The manifest format of Keelson. */
export const native: Format = {
  id: 'native',
  file: 'manifest.json',
  isOptIn: false,
  // Bundles of MCP servers and browser extensions have this key in a `manifest.json` of their own.
  isForeign: (value) => Object.hasOwn(value, 'manifest_version'),
  read: readPackage,
  argsRequired: true,
  skillsDescribeThemselves: false,
  hasDataFolder: false,
};

async function readPackage(document: JsonDocument, { root }: ManifestPlace): Promise<ReadManifest> {
  const read = readNativeManifest(document);
  if (!('content' in read)) return read;
  const missing = await missingPaths(root, { paths: read.content.skillFolders.slice(1), key: 'skills' });
  return { ...read, warnings: [...(read.warnings ?? []), ...missing] };
}

/** Parses the content of a `manifest.json`. */
export function readNativeManifest({ value, lost: found }: JsonDocument): ReadManifest {
  const lost = found.map(({ path, key }) => ({ path, message: lossText(key, true) }));
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) return { problems: [...lost, ...problemsOfIssues(parsed.error.issues, value)] };
  const file = parsed.data;
  const { settings = [] } = file;
  const findSettings = createReferenceFinder(settings);
  const hooks = hooksOf(file);
  const refused = hooks.flatMap((hook) => refusedHook(hook));
  const usable = hooks.filter((hook) => !refused.some((one) => one.hook === hook));
  const content = contentOf(file, usable, refused);
  const problems = [
    ...lost,
    ...hooks.flatMap(eventProblems),
    ...settings.flatMap(settingProblems),
    ...repeatedNames(settings, 'settings', ({ name }) => name),
    ...skillProblems(file, findSettings),
    ...hooks.flatMap((hook) => hookProblems(hook, findSettings)),
  ];
  return problems.length > 0
    ? { problems }
    : {
        content,
        errors: [...refused.map(({ problem }) => problem), ...serverProblems(content)],
        warnings: unknownKeys(value),
      };
}

function unknownKeys(value: JsonDocument['value']): readonly ManifestProblem[] {
  const warnings: ManifestProblem[] = [];
  const lists = { errors: warnings, warnings, notes: warnings };
  const { hooks, settings, skills } = value;
  reportKeys(value, KEYS.manifest, lists);
  const hookLists = isObject(hooks) ? entriesOf(hooks, ['hooks']) : [{ at: ['hooks'], entry: hooks }];
  for (const { at, entry: list } of hookLists.filter(({ entry }) => Array.isArray(entry))) {
    for (const hook of entriesOf(list, at)) reportKeys(hook.entry, KEYS.hook, { ...lists, at: hook.at });
  }
  for (const { at, entry } of entriesOf(settings, ['settings'])) reportKeys(entry, KEYS.setting, { ...lists, at });
  for (const { at, entry: skill } of entriesOf(skills, ['skills'])) {
    reportKeys(skill, KEYS.skill, { ...lists, at });
    const parameters = isObject(skill) ? skill.parameters : undefined;
    for (const { at: path, entry } of entriesOf(parameters, [...at, 'parameters'])) {
      reportKeys(entry, KEYS.parameter, { ...lists, at: path });
    }
  }
  return warnings;
}

function entriesOf(values: unknown, at: readonly PropertyKey[]) {
  if (Array.isArray(values)) return values.map((entry: unknown, index) => ({ at: [...at, index], entry }));
  return isObject(values) ? Object.entries(values).map(([key, entry]) => ({ at: [...at, key], entry })) : [];
}

function contentOf(file: ManifestFile, hooks: readonly PlacedHook[], refused: readonly RefusedHook[]): ManifestContent {
  const { name, version, description, settings = [], skills = [] } = file;
  const unreadGuards = refused.filter(({ hook }) => hook.onFailure === 'block').map(({ hook }) => hook.name);
  return {
    name,
    version,
    description,
    settings,
    mcpServers: (file.mcpServers ?? {}) as ManifestContent['mcpServers'],
    hooks: hooks.map(({ at: _at, key: _key, ...hook }) => hook),
    skills: skills.filter((skill) => typeof skill !== 'string'),
    skillFolders: ['skills', ...skills.filter((skill) => typeof skill === 'string')],
    commandPaths: [],
    contextFiles: [],
    excludedTools: [],
    unreadGuards: unreadGuards.length > 0 ? unreadGuards : undefined,
  };
}

/** A hook that cannot be registered. The other hooks of the manifest stay. */
interface RefusedHook {
  readonly hook: PlacedHook;
  readonly problem: ManifestProblem;
}

interface PlacedHook extends ManifestHook {
  readonly at: string;
  /** The event key that contains the hook in the file. */
  readonly key: string;
}

function hooksOf({ hooks = [] }: ManifestFile): readonly PlacedHook[] {
  if (Array.isArray(hooks)) return hooks.map((hook, index) => ({ ...hook, at: `hooks[${index}]`, key: hook.event }));
  const { timeout, hooks: listed = [], ...byEvent } = hooks;
  const placed: readonly PlacedHook[] = [
    ...listed.map((hook, index) => ({ ...hook, at: `hooks.hooks[${index}]`, key: hook.event })),
    ...Object.entries(byEvent).flatMap(([key, list]) =>
      list.map((hook, index) => ({ ...hook, event: hook.event ?? key, at: `hooks.${key}[${index}]`, key })),
    ),
  ];
  return timeout === undefined ? placed : placed.map((hook) => ({ timeout, ...hook }));
}

function eventProblems({ at, event, key }: PlacedHook): ManifestProblem[] {
  const message = `it must be ${JSON.stringify(key)}, the event that lists it, got ${JSON.stringify(event)}`;
  return event === key ? [] : [{ path: `${at}.event`, message }];
}

function refusedHook(hook: PlacedHook): RefusedHook[] {
  const { at, key: _key, ...own } = hook;
  const message = unknownEvent(hook) ?? problemOfHook(own);
  if (message === undefined) return [];
  return [{ hook, problem: { path: at, message: `the hook "${hook.name}" is ignored: ${message}` } }];
}

function unknownEvent({ event }: PlacedHook): string | undefined {
  if (isHookEvent(event)) return undefined;
  const near = nearestName(event, HOOK_EVENTS);
  const hint = near === undefined ? `known events are ${HOOK_EVENTS.join(', ')}` : `did you mean "${near}"?`;
  return `unknown event ${JSON.stringify(event)}; ${hint}`;
}

function hookProblems(hook: PlacedHook, findSettings: ReferenceFinder): ManifestProblem[] {
  const message = settingInHook(hook, findSettings);
  return message === undefined ? [] : [{ path: `${hook.at}.command`, message }];
}

function repeatedNames<T>(
  entries: readonly T[],
  list: string,
  nameOf: (entry: T) => string | undefined,
): ManifestProblem[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, index) => {
    const name = nameOf(entry);
    const isTaken = name !== undefined && seen.has(name);
    if (name !== undefined) seen.add(name);
    return isTaken
      ? [{ path: `${list}[${index}].name`, message: `the name "${name}" is already used by an earlier entry` }]
      : [];
  });
}

function settingProblems(setting: SettingDefinition, index: number) {
  const at = `settings[${index}]`;
  const problems: ManifestProblem[] = [];
  if (setting.default !== undefined && !fitsSetting(setting, setting.default)) {
    problems.push({ path: `${at}.default`, message: `it must be ${expectedOf(setting)}` });
  }
  setting.enum?.forEach((choice, position) => {
    if (!fitsSetting(setting, choice))
      problems.push({ path: `${at}.enum[${position}]`, message: `it must be ${expectedOf(setting)}` });
  });
  return problems;
}

function skillProblems({ skills = [] }: ManifestFile, findSettings: ReferenceFinder): ManifestProblem[] {
  const problems = skills.flatMap((skill, index) => {
    const at = `skills[${index}]`;
    if (typeof skill === 'string') {
      const message = problemOfRelativePath(skill);
      return message === undefined ? [] : [{ path: at, message }];
    }
    return promptProblems(skill, findSettings).map((message) => ({ path: `${at}.prompt`, message }));
  });
  return [
    ...repeatedNames(skills, 'skills', (skill) => (typeof skill === 'string' ? undefined : skill.name.toLowerCase())),
    ...problems,
  ];
}

/** Reports references to settings in a prompt, because the model reads the prompt. */
function promptProblems({ prompt, parameters = [] }: ManifestSkill, findSettings: ReferenceFinder): string[] {
  const own = new Set(parameters.map(({ name }) => `{{${name}}}`));
  return findSettings(prompt)
    .filter(({ text }) => !own.has(text.replace(/\s/g, '')))
    .map(
      ({ text, setting }) => `${text} would show the setting "${setting.name}" to the model: remove it from the prompt`,
    );
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
  if ('problems' in json) return json;
  const read = readNativeManifest(json);
  return 'content' in read ? { ...read, warnings: [...(read.warnings ?? []), ...serverWarnings(read.content)] } : read;
}
