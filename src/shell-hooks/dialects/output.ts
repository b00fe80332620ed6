import { describeError } from '../../errors.js';
import { isObject, type JsonValue } from '../../internal/json.js';
import { type JsonObject, MOST_LEVELS, withoutPrototypeKeys } from './json-object.js';

/** What a hook wrote, and what is wrong with it. */
export interface ParsedOutput {
  /** Beside a problem only where it is too deep: as far as it could be read. */
  readonly output?: JsonObject;
  readonly problem?: string;
}

/** Reads one JSON object, or nothing at all. Keys that would reach a prototype are dropped. */
export function parseOutput(stdout: string): ParsedOutput {
  if (stdout === '') return {};
  const text = stdout.replace(/^\uFEFF/, '').trim();
  if (text === '') return {};
  try {
    const parsed = JSON.parse(text) as JsonValue;
    if (!isObject(parsed)) return { problem: `it is ${kindOf(parsed)}, not an object` };
    let problem: string | undefined;
    const output = withoutPrototypeKeys(parsed as JsonObject, () => {
      problem = `it is nested deeper than ${MOST_LEVELS} levels`;
    });
    return problem === undefined ? { output } : { output, problem };
  } catch (error) {
    return { problem: `stdout must be JSON only, one object (${describeError(error)})` };
  }
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** What a field may hold. Null counts as absent. */
export type FieldKind = 'text' | 'object' | 'texts';

const CHECKS: Readonly<Record<FieldKind, (value: JsonValue) => boolean>> = {
  text: (value) => typeof value === 'string',
  object: isObject,
  texts: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
};

/** What is wrong with the fields of an output; `continue` is a boolean wherever it stands. */
export function findBadField(output: JsonObject, fields: Readonly<Record<string, FieldKind>>): string | undefined {
  if (Object.hasOwn(output, 'continue') && typeof output.continue !== 'boolean') {
    return `\`continue\` is ${JSON.stringify(output.continue)}, not true or false`;
  }
  const bad = Object.keys(fields).find((key) => {
    const value = output[key];
    return value !== undefined && value !== null && !CHECKS[fields[key] as FieldKind](value);
  });
  return bad === undefined ? undefined : `\`${bad}\` is no ${fields[bad]}`;
}

/** A text that says something. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A string stands as it is; data is shown to the model as JSON. */
export function resultOf(value: JsonValue): { content: string; structured?: JsonValue } {
  return typeof value === 'string' ? { content: value } : { content: JSON.stringify(value), structured: value };
}

/** The object that ends a text, with other text before it. */
export function lastObjectOf(stdout: string): JsonObject | undefined {
  return parseOutput(stdout.slice(stdout.lastIndexOf('\n{') + 1)).output;
}

/** What is wrong with a refusal that follows other text. */
export const NO_BEHIND_TEXT = 'it says no behind other text; stdout must be JSON only, one object';
