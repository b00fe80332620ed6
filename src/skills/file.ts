import { isObject } from '../internal/json.js';
import type { ManifestProblem } from '../internal/problem.js';
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
/** A name longer than this is rejected. Names over `MAX_NAME` only cause a warning. */
const MAX_READ_NAME = 256;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;
/** Keys that other programs support and this library ignores. */
const UNREAD = ['agent', 'arguments', 'context', 'disallowed-tools', 'effort', 'hooks', 'model', 'paths', 'shell'];

/** A parsed skill with its warnings. Without `skill`, the problems are errors. */
interface SkillReading {
  readonly skill?: SkillFile;
  readonly problems: readonly ManifestProblem[];
}

/** Parses a SKILL.md by the Agent Skills standard. Deviations that do no harm are warnings. */
export async function readSkillFile(text: string, folderName: string): Promise<SkillReading> {
  const read = await readFrontMatter(text);
  return 'problem' in read ? { problems: [{ path: '', message: read.problem }] } : skillOf(read, folderName);
}

/**
 * Parses a command file of Claude Code. The skill is named after the file. If the description is missing, the first
 * line of text is used.
 */
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
  // Replaces colons, because a colon separates the extension name from the skill name.
  const name = (textIn(fields.get('name')) || folderName).normalize('NFKC').replaceAll(':', '-');
  if (!SKILL_NAME.test(name) || name.length > MAX_READ_NAME) {
    return {
      problems: [{ path: 'name', message: `must have at most ${MAX_READ_NAME} characters and no control characters` }],
    };
  }
  const unsafe = portableNameProblem(name);
  if (unsafe !== undefined) return { problems: [{ path: 'name', message: `${unsafe}, got "${name}"` }] };
  const described = textIn(fields.get('description'));
  if (described === '') return { problems: [{ path: 'description', message: 'required, but missing' }] };
  // Claude Code shows both fields to the model as one.
  const description = [described, textIn(fields.get('when_to_use'))].join(' ').trim();
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
    [!fields.has('name'), 'name', `missing: the name of the directory is used`],
    [name !== folderName, 'name', `"${name}" should equal the name of the directory "${folderName}"`],
    [!NAME.test(name), 'name', 'should consist of lower case letters, digits and single hyphens'],
    [textIn(fields.get('name')).includes(':'), 'name', `must not contain a colon: "${name}" is used`],
    [name.length > MAX_NAME, 'name', `should have at most ${MAX_NAME} characters`],
    [description.length > MAX_DESCRIPTION, 'description', `cut after ${MAX_DESCRIPTION} characters`],
    [compatibility.length > MAX_COMPATIBILITY, 'compatibility', `cut after ${MAX_COMPATIBILITY} characters`],
    [fields.has('allowed-tools'), 'allowed-tools', 'has no effect: a skill cannot grant tools'],
    [
      textIn(fields.get('user-invocable')).toLowerCase() === 'false',
      'user-invocable',
      'ignored: users can invoke every skill',
    ],
    [body === '', '', 'no instructions follow the front matter: the description is used instead'],
    ...UNREAD.map((key): [boolean, string, string] => [fields.has(key), key, 'ignored: not supported']),
  ];
  return found.flatMap(([applies, path, message]) => (applies ? [{ path, message }] : []));
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
