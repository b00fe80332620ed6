import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { descendants, parse, type SourceFile } from './architecture/source-file.js';

const ID = /\bS\d+-[A-Z0-9](?:[A-Za-z0-9.]*[A-Za-z0-9])?/;

/** One row of a list in test/requirements. */
export interface Requirement {
  readonly id: string;
  readonly wording: string;
  /** How the requirement is proved: `test`, `npm run <script>`, a file, or `not-applicable: <reason>`. */
  readonly proof: string;
}

export function parseRequirements(text: string): Requirement[] {
  const [, ...lines] = text.trimEnd().split('\n');
  return lines.map((line) => {
    const [id = '', wording = '', proof = ''] = line.split('\t');
    return { id, wording, proof };
  });
}

/** Returns every test file below a directory, with its path relative to it. */
export function readTests(folder: string): SourceFile[] {
  const paths = readdirSync(folder, { recursive: true }).map(String);
  return paths
    .filter((path) => /\.test(-d)?\.ts$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

/** Returns the requirement ids in the titles of tests that are not skipped, and after `// covers:`. */
export function idsNamedIn(file: SourceFile): string[] {
  // Most files name no id. To parse them all would take seconds.
  if (!ID.test(file.text)) return [];
  const titles = descendants(parse(file)).flatMap(titleOf);
  const comments = [...file.text.matchAll(/\/\/ covers:(.*)/g)].map(([, ids = '']) => ids);
  return [...titles, ...comments].flatMap((text) => text.match(new RegExp(ID, 'g')) ?? []);
}

/** Returns the title of a `test('…')`, `it('…')` or `describe('…')`, or of a variant such as `test.each(…)('…')`. */
function titleOf(node: ts.Node): string[] {
  if (!ts.isCallExpression(node)) return [];
  const [title] = node.arguments;
  const callee = node.expression.getText();
  const isTest = /^(test|it|describe)\b/.test(callee) && !/^\w+\.(skip|todo)\b/.test(callee);
  if (!isTest || !title) return [];
  return ts.isStringLiteralLike(title) || ts.isTemplateExpression(title) ? [title.getText()] : [];
}

/** Returns the ids that are listed but have no test, and the ids that are tested but not listed. */
export function coverageViolations(requirements: readonly Requirement[], tests: readonly SourceFile[]): string[] {
  const known = new Set(requirements.map(({ id }) => id));
  const named = tests.flatMap((file) => idsNamedIn(file).map((id) => ({ id, path: file.path })));
  const covered = new Set(named.map(({ id }) => id));
  const missing = requirements.filter(({ id, proof }) => proof === 'test' && !covered.has(id));
  return [
    ...missing.map(({ id, wording }) => `the requirement ${id} must be named by a test: ${wording}`),
    ...named.filter(({ id }) => !known.has(id)).map(({ id, path }) => `${path} names the unknown requirement ${id}`),
  ];
}
