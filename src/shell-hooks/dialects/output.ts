import { isObject, type JsonValue } from '../../internal/json.js';
import { lossText, readJson, readJsonCut } from '../../internal/read-json.js';
import type { JsonObject } from './json-object.js';

/** The object that a hook wrote, and what is wrong with it. */
export interface ParsedOutput {
  /** Beside a problem: as far as it could be read, since a no in it stands. */
  readonly output?: JsonObject;
  readonly problem?: string;
}

/** Left out of every object in an output: merged into another object, they would reach a prototype. */
const DROPPED = ['constructor', 'prototype'];

/** Reads one JSON object, or nothing at all. */
export function parseOutput(stdout: string): ParsedOutput {
  const text = stdout.replace(/^\uFEFF/, '').trim();
  if (text === '') return {};
  const read = readJson(text, { drop: DROPPED });
  if ('problem' in read) {
    const seen = readJsonCut(text, DROPPED);
    if (isObject(seen)) return { output: seen as JsonObject, problem: read.problem };
    return { problem: `stdout must be JSON only, one object (${read.problem})` };
  }
  const { value, lost } = read;
  if (!isObject(value)) return { problem: `it is ${kindOf(value)}, not an object` };
  const repeated = lost.find(({ reason }) => reason === 'repeated');
  return { output: value as JsonObject, ...(repeated !== undefined && { problem: lossText(repeated) }) };
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
