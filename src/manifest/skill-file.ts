import { type FrontMatterValue, readFrontMatter } from './front-matter.js';
import type { ManifestProblem } from './manifest-problem.js';
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

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const MAX_COMPATIBILITY = 500;

/** Reads a SKILL.md as the Agent Skills standard has it; what is merely odd is a warning. */
export function readSkillFile(
  text: string,
  folderName: string,
): { readonly skill?: SkillFile; readonly problems: readonly ManifestProblem[] } {
  const read = readFrontMatter(text);
  if ('problem' in read) return { problems: [{ path: '', message: read.problem }] };
  const { fields, body } = read;
  const name = textIn(fields.get('name')) || folderName;
  const description = textIn(fields.get('description'));
  if (description === '') return { problems: [{ path: 'description', message: 'it is missing' }] };
  if (body === '') return { problems: [{ path: '', message: 'there are no instructions after its front matter' }] };
  const compatibility = textIn(fields.get('compatibility'));
  const skill: SkillFile = {
    ...{ name, body, description: clip(description, MAX_DESCRIPTION) },
    ...(fields.has('license') && { license: textIn(fields.get('license')) }),
    ...(compatibility !== '' && { compatibility: clip(compatibility, MAX_COMPATIBILITY) }),
    metadata: mapIn(fields.get('metadata')),
    allowedTools: listIn(fields.get('allowed-tools')),
    userOnly: textIn(fields.get('disable-model-invocation')).toLowerCase() === 'true',
  };
  if (!SKILL_NAME.test(name) || name.length > MAX_NAME) {
    return {
      problems: [{ path: 'name', message: `it has more than ${MAX_NAME} characters, control characters or ":"` }],
    };
  }
  return { skill, problems: oddities(fields, folderName, { name, description, compatibility }) };
}

interface Texts {
  readonly name: string;
  readonly description: string;
  readonly compatibility: string;
}

function oddities(fields: ReadonlyMap<string, FrontMatterValue>, folderName: string, texts: Texts): ManifestProblem[] {
  const { name, description, compatibility } = texts;
  const found: [boolean, string, string][] = [
    [!fields.has('name'), 'name', `it is missing: the folder's name is taken`],
    [name !== folderName, 'name', `it is "${name}", and its folder "${folderName}"`],
    [!NAME.test(name), 'name', 'it should be made of lower case letters, digits and single hyphens'],
    [description.length > MAX_DESCRIPTION, 'description', `it is cut after ${MAX_DESCRIPTION} characters`],
    [compatibility.length > MAX_COMPATIBILITY, 'compatibility', `it is cut after ${MAX_COMPATIBILITY} characters`],
    [fields.has('allowed-tools'), 'allowed-tools', 'it is a wish, and grants nothing'],
  ];
  return found.flatMap(([applies, path, message]) => (applies ? [{ path, message }] : []));
}

function textIn(value: FrontMatterValue | undefined): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** Half of a pair of surrogates is no UTF-8: a provider would refuse the whole request. */
function clip(text: string, max: number): string {
  return text.slice(0, max).replace(/\p{Cs}/gu, '');
}

function mapIn(value: FrontMatterValue | undefined): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'));
}

/** `Bash(git add:*)` is one tool. */
function listIn(value: FrontMatterValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? (value.match(/[^\s,(]+(?:\([^)]*\)?)?|\([^)]*\)?/g) ?? []) : [];
}
