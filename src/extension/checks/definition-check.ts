import { describeValue } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { array, boolean, callable, group, listOf, oneOf, required, text } from '../../internal/options/rules.js';
import { memberProblems, type OptionRule, type OptionTable, unknownName } from '../../internal/options/validate.js';
import { suspectNames } from '../../internal/plain-data.js';
import type { KnownTools } from '../../tools/unknown-tool-names.js';
import type { Extension, ExtensionInput, PromptAddition, TagHandler } from '../definition.js';
import { ExtensionInvalidError } from '../error.js';
import { doubledNames, inBothSpellings, inCamelCase } from './spelling.js';
import { normaliseToolConfig, toolConfigProblems, toolConfigRule } from './tool-config.js';

const ID = /^[A-Za-z0-9-]{1,64}$/;
/** A tag name, a prefix of tag names followed by `*`, or `*` for every tag. */
const TAG_PATTERN = /^(?:[\p{L}_][\p{L}\p{N}_.:-]*\*?|\*)$/u;

/** The members of each condition object, by its `type`. The first two are required, the third is optional. */
const CONDITIONS: Readonly<Record<string, readonly [type: string, subject: string, value?: string]>> = {
  tag_present: ['type', 'tag'],
  state_value: ['type', 'key', 'equals'],
  context_match: ['type', 'path', 'equals'],
};

const tags: OptionRule = {
  expected: 'a tag name, a prefix followed by `*`, or a non-empty array of these',
  accepts: (value) => [value].flat().length > 0 && [value].flat().every(isTagPattern),
};
const handlerRules = {
  tags: required(tags),
  handle: required(callable),
  inCode: boolean,
} satisfies OptionTable<TagHandler>;
const additionRules = {
  position: required(oneOf('system_prefix', 'system_suffix', 'user_prefix', 'user_suffix')),
  content: required(text),
  condition: {
    expected:
      "a function, { type: 'tag_present', tag }, { type: 'state_value', key, equals? } or { type: 'context_match', path, equals? }",
    accepts: isCondition,
  },
} satisfies OptionTable<PromptAddition>;

const rules = {
  id: required({ expected: '1–64 letters, digits and hyphens', accepts: isId }),
  priority: { expected: 'a whole number from 0 to 100', accepts: isPriority },
  scope: oneOf('session', 'global'),
  onInputMessages: callable,
  onPlainText: callable,
  onLlmOutput: callable,
  onTag: {
    expected: 'a function or an array of handlers',
    accepts: (value) => typeof value === 'function' || array.accepts(value),
    items: group(handlerRules),
  },
  tags,
  inCode: boolean,
  usesState: boolean,
  promptAdditions: listOf(group(additionRules)),
  toolConfig: toolConfigRule,
} satisfies OptionTable<Extension>;
const ID_NAMES = ['id', 'extensionId', 'extension_id'] as const;
const { id: idRule, ...rulesWithoutId } = rules;
const otherRules = inBothSpellings(rulesWithoutId);
const rulesOfInput = { ...otherRules, id: idRule, extensionId: idRule, extension_id: idRule };

/**
 * Returns the members of a definition under their camelCase names. Throws an ExtensionInvalidError that lists each
 * invalid member, and each unknown tool that `toolConfig` names.
 */
export function readDefinition(input: ExtensionInput, known: KnownTools): Extension {
  if (!isObject(input)) {
    throw new ExtensionInvalidError('unknown', [`an extension must be an object, got ${describeValue(input)}`]);
  }
  const idNames = ID_NAMES.filter((name) => input[name] !== undefined);
  const idName = idNames[0] ?? 'id';
  const definition = { ...inCamelCase(input, rules), id: input[idName] } as Extension;
  const { id, toolConfig } = definition;
  const problems = [
    ...unknownMembers(input),
    ...memberProblems(input, { ...otherRules, [idName]: idRule }),
    ...doubledNames(input, rules),
    ...(idNames.length > 1 ? [`\`${idNames.join('` and `')}\` are the same member; remove all but one`] : []),
    ...tagProblems(definition),
    ...(isObject(toolConfig) ? toolConfigProblems(toolConfig, known) : []),
  ];
  if (problems.length > 0) throw new ExtensionInvalidError(typeof id === 'string' ? id : 'unknown', problems);
  return { ...definition, toolConfig: toolConfig && normaliseToolConfig(toolConfig) };
}

/** Returns a problem for each unknown member. In a class instance, only members that begin with `on` are suspicious. */
function unknownMembers(extension: object): string[] {
  const unknown = suspectNames(extension, /^on[A-Z_]/).filter((name) => !Object.hasOwn(rulesOfInput, name));
  return unknown.map((name) => unknownName('member', name, Object.keys(rules)));
}

function tagProblems({ onTag, tags }: Extension): string[] {
  if (typeof onTag === 'function') return tags === undefined ? ['`tags` of `onTag` is missing'] : [];
  return tags === undefined ? [] : ['`tags` must be given together with an `onTag` that is a function'];
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && ID.test(value);
}

function isPriority(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 100;
}

function isTagPattern(value: unknown): boolean {
  return typeof value === 'string' && TAG_PATTERN.test(value);
}

function isCondition(condition: unknown): boolean {
  if (typeof condition === 'function') return true;
  if (!isObject(condition) || !Object.hasOwn(CONDITIONS, String(condition.type))) return false;
  const members = CONDITIONS[String(condition.type)] ?? ['type', 'type'];
  const subject = condition[members[1]];
  return typeof subject === 'string' && subject !== '' && Object.keys(condition).every((key) => members.includes(key));
}
