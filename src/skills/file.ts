import { isObject } from '../internal/json.js';
import type { ManifestProblem } from '../internal/problem.js';
import { readJson } from '../internal/read-json.js';
import { safeText } from '../internal/safe-text.js';
import { type FrontMatterValue, type ReadFrontMatter, readFrontMatter } from './front-matter.js';
import { SKILL_NAME } from './skill.js';

/** A SKILL.md that was read. */
export interface SkillFile {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the skill asks for. Nothing is granted by it. */
  readonly allowedTools: readonly string[];
  /** Whether it says that the model is not to use it by itself. */
  readonly userOnly: boolean;
}

/** The file of a skill, in its folder. */
export const SKILL_FILE = 'SKILL.md';

/** Letters of any script that are no capitals, digits and single hyphens. */
const NAME = /^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+)*$/u;
const MAX_NAME = 64;
/** A longer one is no name, but a text in the wrong place. */
const MAX_READ_NAME = 256;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
/** What other programs make of a skill, and nobody does here. */
const UNREAD = ['agent', 'arguments', 'context', 'disallowed-tools', 'effort', 'hooks', 'model', 'paths', 'shell'];

/** What was read of a skill, and what is odd about it; or all that is wrong. */
interface SkillReading {
  readonly skill?: SkillFile;
  readonly problems: readonly ManifestProblem[];
}

/** Reads a SKILL.md as the Agent Skills standard has it; what is merely odd is a warning. */
export async function readSkillFile(text: string, folderName: string): Promise<SkillReading> {
  const read = await readFrontMatter(text);
  return 'problem' in read ? { problems: [{ path: '', message: read.problem }] } : skillOf(read, folderName);
}

/** Reads a command of Claude Code: its file names it, and without a description its first line of words stands for one. */
export async function readCommandFile(text: string, name: string): Promise<SkillReading> {
  const read = await readFrontMatter(/^\s*---[ \t]*[\r\n]/.test(text) ? text : `---\n---\n${text}`);
  if ('problem' in read) return { problems: [{ path: '', message: read.problem }] };
  const { fields, body } = read;
  const first = body.split('\n').find((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';
  const description = textIn(fields.get('description')) || first.replace(/^[#\s]+/, '');
  return skillOf({ fields: new Map(fields).set('name', name).set('description', description), body }, name);
}

function skillOf(read: ReadFrontMatter, folderName: string): SkillReading {
  const { fields, body } = read;
  // A colon would pass for the one behind the name of an extension.
  const name = (textIn(fields.get('name')) || folderName).normalize('NFKC').replaceAll(':', '-');
  if (!SKILL_NAME.test(name) || name.length > MAX_READ_NAME) {
    return {
      problems: [{ path: 'name', message: `it has more than ${MAX_READ_NAME} characters, or control characters` }],
    };
  }
  const said = textIn(fields.get('description'));
  if (said === '') return { problems: [{ path: 'description', message: 'it is missing' }] };
  // Claude Code has the model read the two as one.
  const description = [said, textIn(fields.get('when_to_use'))].join(' ').trim();
  const compatibility = textIn(fields.get('compatibility'));
  const skill: SkillFile = {
    ...{ name, body: body || description, description: clip(description, MAX_DESCRIPTION) },
    ...(fields.has('license') && { license: textIn(fields.get('license')) }),
    ...(compatibility !== '' && { compatibility: clip(compatibility, MAX_COMPATIBILITY) }),
    metadata: mapIn(fields.get('metadata')),
    allowedTools: listIn(fields.get('allowed-tools')),
    userOnly: textIn(fields.get('disable-model-invocation')).toLowerCase() === 'true',
  };
  return { skill, problems: oddities(read, folderName.normalize('NFKC'), { name, description, compatibility }) };
}

function oddities(
  { fields, body }: ReadFrontMatter,
  folderName: string,
  { name, description, compatibility }: Record<'name' | 'description' | 'compatibility', string>,
): ManifestProblem[] {
  const found: [boolean, string, string][] = [
    [!fields.has('name'), 'name', `it is missing: the folder's name is taken`],
    [name !== folderName, 'name', `it is "${name}", and its folder "${folderName}"`],
    [!NAME.test(name), 'name', 'it should be made of lower case letters, digits and single hyphens'],
    [textIn(fields.get('name')).includes(':'), 'name', `a colon ends the name of an extension: the skill is "${name}"`],
    [name.length > MAX_NAME, 'name', `it has more than ${MAX_NAME} characters`],
    [description.length > MAX_DESCRIPTION, 'description', `it is cut after ${MAX_DESCRIPTION} characters`],
    [compatibility.length > MAX_COMPATIBILITY, 'compatibility', `it is cut after ${MAX_COMPATIBILITY} characters`],
    [fields.has('allowed-tools'), 'allowed-tools', 'it is a wish, and grants nothing'],
    [
      textIn(fields.get('user-invocable')).toLowerCase() === 'false',
      'user-invocable',
      'it is passed over: the user may invoke it as well',
    ],
    [body === '', '', 'there are no instructions after its front matter: the description stands for them'],
    ...UNREAD.map((key): [boolean, string, string] => [fields.has(key), key, 'it is passed over']),
  ];
  return found.flatMap(([applies, path, message]) => (applies ? [{ path, message }] : []));
}

/** A string over several lines that all hold colons is a map in YAML. */
function textIn(value: FrontMatterValue | undefined): string {
  if (typeof value === 'string') return value.trim();
  if (!isObject(value)) return '';
  return Object.entries(value)
    .map(([key, inner]) => `${key}: ${plainText(inner)}`.trim())
    .join(' ');
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function clip(text: string, max: number): string {
  return safeText(text.slice(0, max));
}

/** Its inner maps and lists become JSON. Some write the whole of it as JSON in quotes. */
function mapIn(value: FrontMatterValue | undefined): Readonly<Record<string, string>> {
  const read = typeof value === 'string' ? readJson(value) : { value };
  const map = 'value' in read ? read.value : undefined;
  if (!isObject(map)) return {};
  const entries = Object.entries(map).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, inner]) => [key, plainText(inner)]));
}

/** `Bash(git add:*)` is one tool. */
function listIn(value: FrontMatterValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.map(plainText);
  return typeof value === 'string' ? (value.match(/[^\s,(]+(?:\([^)]*\)?)?|\([^)]*\)?/g) ?? []) : [];
}
