import { SkillParametersError } from './error.js';
import type { SettingValue, SkillParameter } from './skill.js';

/** The values that a skill is invoked with, by parameter. */
export type SkillArguments = Readonly<Record<string, SettingValue>>;

/** What a prompt is made from. */
export interface SkillPrompt {
  readonly name: string;
  readonly prompt: string;
  readonly parameters: readonly SkillParameter[];
}

/**
 * Puts the values of its parameters into a prompt, in one pass: what a value holds is not looked at again. Throws a
 * SkillParametersError where a required one is missing, or one is given that there is not.
 */
export function fillPrompt({ name, prompt, parameters }: SkillPrompt, given: SkillArguments = {}): string {
  if (typeof given !== 'object' || given === null) {
    throw new SkillParametersError(name, ['its parameters are no object']);
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
    return [`there is no parameter "${key}"; there ${names === '' ? 'are none' : `are ${names}`}`];
  }
  return ['string', 'number', 'boolean', 'undefined'].includes(typeof value)
    ? []
    : [`"${key}" is no text, number or boolean`];
}
