import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { type ManifestProblem, pathText } from '../../internal/problem.js';
import { HOOK_KEYS, MANIFEST_KEYS, PARAMETER_KEYS, SETTING_KEYS, SKILL_KEYS } from './native-schema.js';

/** Known keys of one kind of object, and keys without effect that need no warning. */
interface KeyRule {
  readonly known: readonly string[];
  readonly harmless: readonly string[];
}

const MANIFEST: KeyRule = {
  known: MANIFEST_KEYS,
  harmless: ['author', 'homepage', 'repository', 'license', 'keywords'],
};
const HOOK: KeyRule = { known: HOOK_KEYS, harmless: ['description', 'title'] };
const SETTING: KeyRule = { known: SETTING_KEYS, harmless: ['title'] };
const SKILL: KeyRule = { known: SKILL_KEYS, harmless: ['title', 'tags'] };
const PARAMETER: KeyRule = { known: PARAMETER_KEYS, harmless: ['title', 'type', 'enum'] };

type Path = readonly PropertyKey[];

/** Returns a warning for each unknown key of a valid manifest, with the nearest known key. */
export function unknownKeys(value: Readonly<Record<string, unknown>>): readonly ManifestProblem[] {
  const { hooks, settings, skills } = value;
  return [
    ...keysOf(value, [], MANIFEST),
    ...hookLists(hooks).flatMap(([path, list]) => inList(list, path, HOOK)),
    ...inList(settings, ['settings'], SETTING),
    ...inList(skills, ['skills'], SKILL),
    ...entriesOf(skills, ['skills']).flatMap(([path, skill]) => inParameters(skill, path)),
  ];
}

function hookLists(hooks: unknown): readonly (readonly [Path, unknown])[] {
  if (!isObject(hooks)) return [[['hooks'], hooks]];
  return Object.entries(hooks).map(([event, list]) => [['hooks', event], list]);
}

function inParameters(skill: unknown, at: Path): readonly ManifestProblem[] {
  const parameters = isObject(skill) ? skill.parameters : undefined;
  return entriesOf(parameters, [...at, 'parameters']).flatMap(([path, entry]) => keysOf(entry, path, PARAMETER));
}

function inList(list: unknown, at: Path, rule: KeyRule): readonly ManifestProblem[] {
  return Array.isArray(list) ? entriesOf(list, at).flatMap(([path, entry]) => keysOf(entry, path, rule)) : [];
}

/** Returns the items of an array or the values of an object, with their paths. */
function entriesOf(values: unknown, at: Path): readonly (readonly [Path, unknown])[] {
  if (Array.isArray(values)) return values.map((entry: unknown, index) => [[...at, index], entry]);
  return isObject(values) ? Object.entries(values).map(([key, entry]) => [[...at, key], entry]) : [];
}

function keysOf(value: unknown, at: Path, { known, harmless }: KeyRule): readonly ManifestProblem[] {
  if (!isObject(value)) return [];
  const unknown = Object.keys(value).filter((key) => !known.includes(key) && !harmless.includes(key));
  return unknown.map((key) => {
    const near = nearestName(key, known);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return { path: pathText([...at, key]), message: `the key is unknown${hint}` };
  });
}
