import { isObject } from '../internal/json.js';
import type { LeveledProblem } from '../internal/problem.js';
import { readJson } from '../internal/read-json.js';
import { safeText } from '../internal/safe-text.js';
import { portableNameProblem } from '../process/files/portable-name.js';
import { type FrontMatterValue, type ReadFrontMatter, readFrontMatter } from './front-matter.js';
import { SKILL_NAME } from './skill.js';

/** The parsed content of a SKILL.md. */
export interface SkillFile {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The tools that the skill asks for. The library never grants them. */
  readonly allowedTools: readonly string[];
  /** True if only the user may invoke the skill, not the model (`disable-model-invocation`). */
  readonly userOnly: boolean;
}

/** The file in a skill's directory that defines the skill. */
export const SKILL_FILE = 'SKILL.md';

/** The standard's rule: letters that are not upper case, digits and single hyphens. */
const NAME = /^[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+(-[\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}]+)*$/u;
const MAX_NAME = 64;
/** A name longer than this is rejected. Names over `MAX_NAME` only cause a note. */
const MAX_READ_NAME = 256;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
/** Keys of other programs that change how a skill runs there, and that this library ignores. */
const UNREAD = ['agent', 'arguments', 'context', 'effort', 'model', 'paths', 'shell'];
/** Keys of other programs that forbid something while a skill is used. */
const GUARDS = ['disallowed-tools', 'hooks'];
const USER_ONLY = 'disable-model-invocation';
/** The values of a field that is true or false. A field without a value counts as missing. */
const BOOLEANS = ['true', 'false', 'null', '~', ''];

/**
 * A parsed skill with its problems. Without `skill`, the problems are the reasons why the skill is left out. A lost guard
 * is an `error`, and a deviation without an effect is `info`.
 */
interface SkillReading {
  readonly skill?: SkillFile;
  readonly problems: readonly LeveledProblem[];
}

/**
 * Parses a SKILL.md by the Agent Skills standard. If `describesItself`, the front matter and the description may be
 * missing, as in Claude Code. The first paragraph then describes the skill.
 */
export async function readSkillFile(text: string, folderName: string, describesItself = false): Promise<SkillReading> {
  const read = await readFrontMatter(text, describesItself);
  if ('problem' in read) return leftOut('', read.problem);
  return skillOf(describesItself ? described(read, firstParagraph) : read, folderName);
}

/**
 * Parses a command file of Claude Code. The skill is named after the file. If the description is missing, the first
 * line of text is used.
 */
export async function readCommandFile(text: string, name: string): Promise<SkillReading> {
  const read = await readFrontMatter(text, true);
  if ('problem' in read) return leftOut('', read.problem);
  const { fields, body } = described(read, firstLine);
  return skillOf({ fields: new Map(fields).set('name', name), body }, name);
}

/** Adds a part of the text as the description if the file has none. */
function described({ fields, body }: ReadFrontMatter, partOf: (body: string) => string): ReadFrontMatter {
  if (textIn(fields.get('description')) !== '') return { fields, body };
  return { fields: new Map(fields).set('description', partOf(body).slice(0, MAX_DESCRIPTION)), body };
}

function firstLine(markdown: string): string {
  const line = markdown.split('\n').find((it) => READABLE.test(it)) ?? '';
  return line.replace(/^[#\s]+/, '');
}

const READABLE = /[\p{L}\p{N}]/u;

/**
 * Returns the first paragraph of a Markdown text as one line. Skips code blocks and comments. Returns the first heading
 * if the text has no paragraph.
 */
function firstParagraph(markdown: string): string {
  let heading = '';
  let isCode = false;
  const paragraph: string[] = [];
  for (const line of markdown.split('\n').map((it) => it.trim())) {
    const isFence = line.startsWith('```') || line.startsWith('~~~');
    if (isFence) isCode = !isCode;
    const isText = !isCode && !isFence && !line.startsWith('<!--') && READABLE.test(line);
    if (isText && !line.startsWith('#')) paragraph.push(line);
    else if (paragraph.length > 0) break;
    else if (isText) heading ||= line.replace(/^#+\s*/, '');
  }
  return paragraph.length > 0 ? paragraph.join(' ') : heading;
}

function leftOut(path: string, message: string): SkillReading {
  return { problems: [{ level: 'warning', path, message }] };
}

function skillOf(read: ReadFrontMatter, folderName: string): SkillReading {
  const { fields, body } = read;
  // Replaces colons, because a colon separates the extension name from the skill name.
  const name = (textIn(fields.get('name')) || folderName).normalize('NFKC').replaceAll(':', '-');
  if (!SKILL_NAME.test(name) || name.length > MAX_READ_NAME) {
    return leftOut('name', `must have at most ${MAX_READ_NAME} characters and no control characters`);
  }
  const unsafe = portableNameProblem(name);
  if (unsafe !== undefined) return leftOut('name', `${unsafe}, got "${name}"`);
  const described = textIn(fields.get('description'));
  if (described === '') return leftOut('description', 'required, but missing');
  // Claude Code shows both fields to the model as one.
  const description = [described, textIn(fields.get('when_to_use'))].join(' ').trim();
  const compatibility = textIn(fields.get('compatibility'));
  const skill: SkillFile = {
    name,
    body: body || description,
    description: clip(description, MAX_DESCRIPTION),
    license: fields.has('license') ? textIn(fields.get('license')) : undefined,
    compatibility: compatibility === '' ? undefined : clip(compatibility, MAX_COMPATIBILITY),
    metadata: mapIn(fields.get('metadata')),
    allowedTools: listIn(fields.get('allowed-tools')),
    userOnly: textIn(fields.get(USER_ONLY)).toLowerCase() === 'true',
  };
  return { skill, problems: deviations(read, folderName.normalize('NFKC'), { name, description, compatibility }) };
}

function deviations(
  { fields, body }: ReadFrontMatter,
  folderName: string,
  { name, description, compatibility }: Record<'name' | 'description' | 'compatibility', string>,
): LeveledProblem[] {
  const isHidden = textIn(fields.get('user-invocable')).toLowerCase() === 'false';
  const userOnly = plainText(fields.get(USER_ONLY) ?? '').trim();
  const notBoolean = `must be true or false, got ${JSON.stringify(userOnly)}: the model may invoke the skill`;
  const noBody = 'no instructions follow the front matter: the description is used instead';
  const all: readonly (readonly [LeveledProblem['level'], boolean, string, string])[] = [
    ...GUARDS.map((key) => ['error', fields.has(key), key, 'not supported, so it guards nothing'] as const),
    ['error', !BOOLEANS.includes(userOnly.toLowerCase()), USER_ONLY, notBoolean],
    ['warning', description.length > MAX_DESCRIPTION, 'description', `cut after ${MAX_DESCRIPTION} characters`],
    ['warning', body === '', '', noBody],
    ['info', !fields.has('name'), 'name', 'missing: the name of the directory is used'],
    ['info', name !== folderName, 'name', `"${name}" should equal the name of the directory "${folderName}"`],
    ['info', !NAME.test(name), 'name', 'should consist of lower case letters, digits and single hyphens'],
    ['info', textIn(fields.get('name')).includes(':'), 'name', `must not contain a colon: "${name}" is used`],
    ['info', name.length > MAX_NAME, 'name', `should have at most ${MAX_NAME} characters`],
    ['info', compatibility.length > MAX_COMPATIBILITY, 'compatibility', `cut after ${MAX_COMPATIBILITY} characters`],
    ['info', fields.has('allowed-tools'), 'allowed-tools', 'has no effect: a skill cannot grant tools'],
    ['info', isHidden, 'user-invocable', 'ignored: users can invoke every skill'],
    ...UNREAD.map((key) => ['info', fields.has(key), key, 'ignored: not supported'] as const),
  ];
  return all.flatMap(([level, applies, path, message]) => (applies ? [{ level, path, message }] : []));
}

/** YAML parses a string of several lines that all contain colons as a map. Turns it back into a string. */
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

/** Turns nested maps and lists into JSON. Also accepts the whole map as a quoted JSON string. */
function mapIn(value: FrontMatterValue | undefined): Readonly<Record<string, string>> {
  const read = typeof value === 'string' ? readJson(value) : { value };
  const map = 'value' in read ? read.value : undefined;
  if (!isObject(map)) return {};
  const entries = Object.entries(map).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, inner]) => [key, plainText(inner)]));
}

/** Splits at blanks and commas, but keeps `Bash(git add:*)` as one tool. */
function listIn(value: FrontMatterValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.map(plainText);
  return typeof value === 'string' ? (value.match(/[^\s,(]+(?:\([^)]*\)?)?|\([^)]*\)?/g) ?? []) : [];
}
