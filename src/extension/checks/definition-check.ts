import { suspectNames } from '../../internal/plain-data.js';
import type { ExtensionInput } from '../definition.js';
import { ExtensionInvalidError } from '../error.js';
import { additionProblems } from './addition-check.js';
import { type KnownTools, toolConfigProblems } from './tool-config-check.js';

const CALLBACKS = ['onInputMessages', 'onPlainText', 'onLlmOutput'] as const;
const MEMBERS = ['id', 'priority', 'scope', ...CALLBACKS, 'onTag', 'tags', 'promptAdditions', 'toolConfig'];
const ID = /^[A-Za-z0-9-]{1,64}$/;
/** A name, a beginning of names and `*`, or `*` for every tag. */
const TAG_PATTERN = /^(?:[\p{L}_][\p{L}\p{N}_.:-]*\*?|\*)$/u;

/** Throws an ExtensionInvalidError that lists everything that is wrong with an extension. */
export function validateExtension(extension: ExtensionInput, known: KnownTools): void {
  if (typeof extension !== 'object' || extension === null || Array.isArray(extension)) {
    throw new ExtensionInvalidError('unknown', ['it is no object']);
  }
  const problems = [
    ...unknownKeys(extension),
    ...identityProblems(extension),
    ...CALLBACKS.flatMap((key) => functionProblems(key, extension[key])),
    ...tagProblems(extension),
    ...additionProblems(extension.promptAdditions),
    ...toolConfigProblems(extension.toolConfig, known),
  ];
  if (problems.length === 0) return;
  throw new ExtensionInvalidError(typeof extension.id === 'string' ? extension.id : 'unknown', problems);
}

/** What begins with `on` is most likely a misspelt callback. */
function unknownKeys(extension: object): string[] {
  const keys = suspectNames(extension, /^on[A-Z_]/);
  return keys.filter((key) => !MEMBERS.includes(key)).map((key) => `\`${key}\` is no member of an extension`);
}

function identityProblems({ id, priority, scope }: ExtensionInput): string[] {
  const problems: string[] = [];
  if (typeof id !== 'string' || !ID.test(id)) {
    problems.push(`\`id\` is ${shown(id)}; it is 1–64 letters, digits and hyphens`);
  }
  if (priority !== undefined && !(Number.isInteger(priority) && priority >= 0 && priority <= 100)) {
    problems.push(`\`priority\` is ${shown(priority)}; it is a whole number from 0 to 100`);
  }
  if (scope !== undefined && scope !== 'session' && scope !== 'global') {
    problems.push(`\`scope\` is ${shown(scope)}; it is 'session' or 'global'`);
  }
  return problems;
}

function functionProblems(key: string, value: unknown): string[] {
  return value === undefined || typeof value === 'function' ? [] : [`\`${key}\` is ${shown(value)}, not a function`];
}

function tagProblems({ onTag, tags }: ExtensionInput): string[] {
  if (onTag === undefined) return tags === undefined ? [] : ['`tags` stands without `onTag`'];
  if (typeof onTag === 'function') return patternProblems('`tags` of `onTag`', tags);
  if (!Array.isArray(onTag)) return [`\`onTag\` is ${shown(onTag)}, neither a function nor a list of handlers`];
  const beside = tags === undefined ? [] : ['`tags` stands beside a list in `onTag`, whose handlers have tags each'];
  return [...beside, ...onTag.flatMap((handler: unknown, index) => handlerProblems(`\`onTag[${index}]`, handler))];
}

function handlerProblems(at: string, handler: unknown): string[] {
  if (typeof handler !== 'object' || handler === null) return [`${at}\` is ${shown(handler)}, not a handler`];
  const { tags, handle, ...others } = handler as Record<string, unknown>;
  return [
    ...Object.keys(others).map((key) => `${at}.${key}\` is no member of a handler`),
    ...patternProblems(`${at}.tags\``, tags),
    ...(typeof handle === 'function' ? [] : [`${at}.handle\` is ${shown(handle)}, not a function`]),
  ];
}

function patternProblems(what: string, tags: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(tags) ? tags : [tags];
  if (tags === undefined || list.length === 0) return [`${what} names no tag`];
  const wrong = list.filter((tag) => typeof tag !== 'string' || !TAG_PATTERN.test(tag));
  return wrong.map((tag) => `${what} has ${shown(tag)}; a pattern is a tag's name, or its beginning and \`*\``);
}

/** A value of any kind, short enough for a message. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
