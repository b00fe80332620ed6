import ts from 'typescript';
import { descendants, parse, type SourceFile } from './source-file.js';

const MAX_ROOT_VALUES = 13;
const MAX_ROOT_NAMES = 110;
const MAX_AGENT_MEMBERS = 16;
const forbiddenNames = ['utils', 'util', 'helpers', 'helper', 'types', 'common', 'index'];

/** Words that only the authors understand, with the word to use instead. Matches each word of a camelCase identifier. */
const privateWords: readonly (readonly [word: RegExp, instead: string])[] = [
  [/^said/, 'the kind of value: text, answer, entry'],
  [/^weigh(?!t)/, 'check, compare or rank'],
  [/^(?:tell|told)/, 'report, notify or send'],
  [/^(?:doubt|ondoubt)/, '`isUncertain`'],
  [/^twins?$/, 'duplicate or equal'],
  [/^meant$/, 'nearest, likely or intended'],
];

/** Reports identifiers with a private word, such as `weighAnswer`. */
export function privateWordViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const names = new Set(
      descendants(parse(file))
        .filter(ts.isIdentifier)
        .map(({ text }) => text),
    );
    return [...names].flatMap((name) => {
      const parts = name.split(/(?=[A-Z])/).map((part) => part.toLowerCase());
      const found = privateWords.find(([word]) => parts.some((part) => word.test(part)));
      return found ? [`${file.path} names \`${name}\`: use ${found[1]}`] : [];
    });
  });
}

/** Reports `export *` in the root entry, and too many exported values or names. Error classes do not count as values. */
export function rootViolations(files: readonly SourceFile[]): string[] {
  const root = files.find(({ path }) => path === 'index.ts');
  if (!root) return ['src/index.ts is missing'];
  const statements = parse(root).statements;
  const stars = statements
    .filter((it) => ts.isExportDeclaration(it) && !namesOf(it))
    .map(() => 'index.ts has an `export *`');
  const values = statements.flatMap(valuesOf).filter((name) => !name.endsWith('Error'));
  const names = statements.filter(ts.isExportDeclaration).flatMap((it) => namesOf(it) ?? []);
  return [
    ...stars,
    ...tooMany(values.length, 'values beside its errors', MAX_ROOT_VALUES),
    ...tooMany(names.length, 'names', MAX_ROOT_NAMES),
  ];
}

function tooMany(count: number, what: string, limit: number): string[] {
  return count > limit ? [`index.ts exports ${count} ${what}, more than ${limit}`] : [];
}

/** Returns the value names that a statement of the root entry exports. */
function valuesOf(statement: ts.Statement): string[] {
  if (ts.isExportDeclaration(statement)) {
    const names = statement.isTypeOnly ? [] : (namesOf(statement) ?? []);
    return names.filter((it) => !it.isTypeOnly).map((it) => it.name.text);
  }
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return [];
  const isExported = ts.canHaveModifiers(statement) && hasModifier(statement, ts.SyntaxKind.ExportKeyword);
  if (!isExported) return [];
  return ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map((it) => it.name.getText())
    : ['one'];
}

function namesOf({ exportClause }: ts.ExportDeclaration): readonly ts.ExportSpecifier[] | undefined {
  return exportClause && ts.isNamedExports(exportClause) ? exportClause.elements : undefined;
}

function hasModifier(node: ts.HasModifiers, kind: ts.SyntaxKind): boolean {
  return node.modifiers?.some((it) => it.kind === kind) ?? false;
}

/** Reports an `Agent` with more than sixteen public members. Overloads and accessor pairs count once. */
export function agentViolations(files: readonly SourceFile[]): string[] {
  const file = files.find(({ path }) => path === 'agent/agent.ts');
  const nodes = file ? descendants(parse(file)) : [];
  const agent = nodes.find((node) => ts.isClassDeclaration(node) && node.name?.text === 'Agent');
  if (!agent || !ts.isClassDeclaration(agent)) return ['src/agent/agent.ts with a class Agent is missing'];
  const count = new Set(agent.members.filter(isPublic).map((it) => it.name?.getText())).size;
  return count > MAX_AGENT_MEMBERS ? [`Agent has ${count} public members, more than ${MAX_AGENT_MEMBERS}`] : [];
}

function isPublic(member: ts.ClassElement): boolean {
  if (!member.name || ts.isPrivateIdentifier(member.name)) return false;
  if (!ts.canHaveModifiers(member)) return true;
  return !hasModifier(member, ts.SyntaxKind.PrivateKeyword) && !hasModifier(member, ts.SyntaxKind.ProtectedKeyword);
}

/** Reports file names that are not in kebab-case or that are too vague, such as `utils`. */
export function nameViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path }) => {
    if (path === 'index.ts') return [];
    const parts = path.replace(/\.ts$/, '').split('/');
    if (!parts.every((part) => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(part))) return [`${path} is not in kebab-case`];
    return parts.some((part) => forbiddenNames.includes(part)) ? [`${path} says nothing of what it holds`] : [];
  });
}
