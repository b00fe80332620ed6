import ts from 'typescript';
import { descendants, parse, type SourceFile } from './source-file.js';

const MAX_ROOT_VALUES = 13;
const MAX_AGENT_MEMBERS = 16;
const forbiddenNames = ['utils', 'util', 'helpers', 'helper', 'types', 'common', 'index'];

/** Reports `export *` in the root entry, and too many exported values. Types and error classes do not count. */
export function rootViolations(files: readonly SourceFile[]): string[] {
  const root = files.find(({ path }) => path === 'index.ts');
  if (!root) return ['src/index.ts is missing'];
  const statements = parse(root).statements;
  const stars = statements
    .filter((it) => ts.isExportDeclaration(it) && !namesOf(it))
    .map(() => 'index.ts has an `export *`');
  const values = statements.flatMap(valuesOf).filter((name) => !name.endsWith('Error'));
  const many = values.length > MAX_ROOT_VALUES;
  return many
    ? [...stars, `index.ts exports ${values.length} values beside its errors, more than ${MAX_ROOT_VALUES}`]
    : stars;
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
