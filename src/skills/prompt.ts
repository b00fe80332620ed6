import { SkillParametersError } from './error.js';
import type { SettingValue, SkillParameter } from './skill.js';

/** Parameter values for invoking a skill, by parameter name. */
export type SkillArguments = Readonly<Record<string, SettingValue>>;

/** A prompt template and its parameters. */
export interface SkillPrompt {
  readonly name: string;
  readonly prompt: string;
  readonly parameters: readonly SkillParameter[];
}

/**
 * Replaces the `{{name}}` placeholders in a prompt with parameter values. Placeholders inside a value are not replaced.
 *
 * Throws a SkillParametersError if a required parameter is missing, a parameter is unknown, or a value has the wrong
 * type.
 */
export function fillPrompt({ name, prompt, parameters }: SkillPrompt, given: SkillArguments = {}): string {
  if (typeof given !== 'object' || given === null) {
    throw new SkillParametersError(name, ['the parameters must be an object']);
  }
  const values = new Map(parameters.map((parameter) => [parameter.name, valueFor(parameter, given)] as const));
  const problems = [
    ...parameters
      .filter((it) => it.required && values.get(it.name) === undefined)
      .map((it) => `"${it.name}" is missing`),
    ...Object.entries(given).flatMap(([key, value]) => problemsOf(key, value, values)),
  ];
  if (problems.length > 0) throw new SkillParametersError(name, problems);
  return prompt.replace(/\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g, (whole, key: string) =>
    values.has(key) ? String(values.get(key) ?? '') : whole,
  );
}

function valueFor({ name, default: fallback }: SkillParameter, given: SkillArguments): SettingValue | undefined {
  return Object.hasOwn(given, name) && given[name] !== undefined ? given[name] : fallback;
}

function problemsOf(key: string, value: unknown, known: ReadonlyMap<string, unknown>): string[] {
  if (!known.has(key)) {
    const names = [...known.keys()].map((name) => `"${name}"`).join(', ');
    return [
      `unknown parameter "${key}"; ${names === '' ? 'the skill has no parameters' : `known parameters are ${names}`}`,
    ];
  }
  return ['string', 'number', 'boolean', 'undefined'].includes(typeof value)
    ? []
    : [`"${key}" must be a string, number or boolean`];
}
