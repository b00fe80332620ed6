import { join } from 'node:path';
import type { JsonValue } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { missingPaths, problemOfRelativePath } from '../../process/files/relative-path.js';
import { HOOK_EVENTS, isHookEvent } from '../../shell-hooks/hook/event.js';
import type { ManifestContent, ManifestHook, ManifestSkill, SettingDefinition } from '../extension.js';
import { createReferenceFinder, type ReferenceFinder } from '../settings/reference.js';
import { expectedOf, fitsSetting } from '../settings/type.js';
import type { Format, ManifestPlace, ReadManifest } from './format.js';
import { MANIFEST_KEYS, type ManifestFile, manifestSchema } from './native-schema.js';
import { problemsOfIssues } from './schema-issue.js';
import { type JsonDocument, parseJsonObject } from './strict-json.js';

type JsonObject = { readonly [key: string]: JsonValue };

/** The format of this library. */
export const native: Format = {
  id: 'native',
  file: 'manifest.json',
  isOptIn: false,
  read: readPackage,
  argsRequired: true,
  urlMeans: 'http',
  hasDataFolder: false,
};

/** Reads a manifest and looks at the folders that it names. */
async function readPackage(document: JsonDocument, { root }: ManifestPlace): Promise<ReadManifest> {
  const read = readNativeManifest(document);
  if (!('content' in read)) return read;
  const outside = foldersOutside(root, read.content);
  if (outside.length > 0) return { problems: outside };
  const missing = await missingPaths(root, { paths: read.content.skillFolders.slice(1), key: 'skills' });
  return { ...read, warnings: [...(read.warnings ?? []), ...missing] };
}

/** Folders of skills that a link leads out of the extension. */
function foldersOutside(root: string, { skillFolders }: ManifestContent): readonly ManifestProblem[] {
  return skillFolders
    .filter((path) => !isInside(realLocation(join(root, path)), realLocation(root)))
    .map((path) => ({ path: 'skills', message: `${JSON.stringify(path)} leads out of the folder of the extension` }));
}

/** Reads what stands in a `manifest.json`. */
export function readNativeManifest({ value, lost }: JsonDocument): ReadManifest {
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) return { problems: [...lost, ...problemsOfIssues(parsed.error.issues, value)] };
  const file = parsed.data;
  const hooks = hooksOf(file);
  const content = contentOf(
    file,
    hooks.filter(({ event }) => isHookEvent(event)),
  );
  const findSettings = createReferenceFinder(content.settings);
  const problems = [
    ...lost,
    ...hooks.flatMap(eventProblems),
    ...content.settings.flatMap(settingProblems),
    ...repeatedNames(content.settings, 'settings', ({ name }) => name),
    ...skillProblems(file, findSettings),
    ...hooks.flatMap((hook) => hookProblems(hook, findSettings)),
  ];
  return problems.length > 0
    ? { problems }
    : { content, errors: hooks.flatMap(unknownEvent), warnings: unknownKeys(value) };
}

function contentOf(file: ManifestFile, hooks: readonly PlacedHook[]): ManifestContent {
  const { name, version, description, settings = [], skills = [] } = file;
  return {
    ...{ name, version, description, settings },
    mcpServers: (file.mcpServers ?? {}) as ManifestContent['mcpServers'],
    hooks: hooks.map(({ at: _at, key: _key, ...hook }) => hook),
    skills: skills.filter((skill) => typeof skill !== 'string'),
    skillFolders: ['skills', ...skills.filter((skill) => typeof skill === 'string')],
    ...{ commandPaths: [], contextFiles: [], excludedTools: [] },
  };
}

interface PlacedHook extends ManifestHook {
  readonly at: string;
  /** The event that it stands under. */
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
  const message = `it is ${JSON.stringify(event)}, and stands under ${JSON.stringify(key)}`;
  return event === key ? [] : [{ path: `${at}.event`, message }];
}

/** A hook at an event that there is not is left out; the others stay. */
function unknownEvent({ event, at, name }: PlacedHook): ManifestProblem[] {
  if (isHookEvent(event)) return [];
  const near = nearestName(event, HOOK_EVENTS);
  const hint = near === undefined ? `there are ${HOOK_EVENTS.join(', ')}` : `did you mean "${near}"?`;
  return [{ path: at, message: `the hook "${name}" is left out: there is no event ${JSON.stringify(event)}; ${hint}` }];
}

function hookProblems({ at, command, shell, args = [], env = {} }: PlacedHook, findSettings: ReferenceFinder) {
  const texts = [command, ...args, ...Object.values(env)];
  // What a shell would read as a program is no place for a value; elsewhere it would be shown and hashed.
  return texts.flatMap((text) =>
    findSettings(text)
      .filter(({ isVariable }) => !(shell && isVariable))
      .map(({ text: reference, setting }) => ({
        path: `${at}.command`,
        message: `${reference} would put the setting "${setting.name}" into the command: read it from the environment`,
      })),
  );
}

/** Entries with a name that one before them has. */
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
    return isTaken ? [{ path: `${list}[${index}].name`, message: `"${name}" is there already` }] : [];
  });
}

function settingProblems(setting: SettingDefinition, index: number) {
  const at = `settings[${index}]`;
  const problems: ManifestProblem[] = [];
  if (setting.default !== undefined && !fitsSetting(setting, setting.default)) {
    problems.push({ path: `${at}.default`, message: `it is no ${expectedOf(setting)}` });
  }
  setting.enum?.forEach((choice, at_) => {
    if (!fitsSetting(setting, choice))
      problems.push({ path: `${at}.enum[${at_}]`, message: `it is no ${expectedOf(setting)}` });
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

/** What a prompt may not ask for: whatever stands in it reaches the model. */
function promptProblems({ prompt, parameters = [] }: ManifestSkill, findSettings: ReferenceFinder): string[] {
  const own = new Set(parameters.map(({ name }) => `{{${name}}}`));
  return findSettings(prompt)
    .filter(({ text }) => !own.has(text.replace(/\s/g, '')))
    .map(({ text, setting }) => `${text} would put the setting "${setting.name}" before the model, which no value is`);
}

function unknownKeys(value: JsonObject): ManifestProblem[] {
  return Object.keys(value)
    .filter((key) => !MANIFEST_KEYS.includes(key))
    .map((key) => {
      const near = nearestName(key, MANIFEST_KEYS);
      return { path: key, message: `there is no such key${near === undefined ? '' : `; did you mean "${near}"?`}` };
    });
}

/**
 * Reads the text of a `manifest.json` as an extension's would be read, for a check before it is published: its content,
 * or all that is wrong with it. Never throws. Files that it names are not looked at.
 *
 * @example
 * const read = parseManifest('{ "name": "notes", "version": "1.0.0" }');
 * if ('problems' in read) for (const { path, message } of read.problems) console.error(path, message);
 */
export function parseManifest(text: string): ReadManifest {
  const json = parseJsonObject(new TextEncoder().encode(text));
  return 'problems' in json ? json : readNativeManifest(json);
}
