import { posix } from 'node:path';
import ts from 'typescript';
import { descendants, parse, type SourceFile } from './source-file.js';

/** One import, re-export, `import()` or `import('…').Type` of a file. */
export interface ImportOf {
  readonly from: string;
  /** The path relative to `src` for a file of `src`, otherwise the import specifier. */
  readonly to: string;
  readonly ours: boolean;
  readonly kind: 'value' | 'type' | 'lazy';
}

export function importsOf(file: SourceFile): ImportOf[] {
  return descendants(parse(file)).flatMap((node) => {
    const found = importAt(node);
    if (!found) return [];
    const ours = found.specifier.startsWith('.');
    const joined = posix.join(posix.dirname(file.path), found.specifier).replace(/\.js$/, '.ts');
    return [{ from: file.path, to: ours ? joined : found.specifier, ours, kind: found.kind }];
  });
}

function importAt(node: ts.Node): { specifier: string; kind: ImportOf['kind'] } | undefined {
  if (ts.isImportDeclaration(node)) return at(node.moduleSpecifier, isTypeImport(node) ? 'type' : 'value');
  if (ts.isExportDeclaration(node)) return at(node.moduleSpecifier, isTypeExport(node) ? 'type' : 'value');
  if (ts.isImportTypeNode(node))
    return at(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, 'type');
  if (ts.isCallExpression(node) && isLoad(node.expression)) return at(node.arguments[0], 'lazy');
  return undefined;
}

function at(specifier: ts.Node | undefined, kind: ImportOf['kind']) {
  return specifier && ts.isStringLiteralLike(specifier) ? { specifier: specifier.text, kind } : undefined;
}

function isLoad(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}

function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.isTypeOnly) return true;
  const names = importClause.namedBindings;
  return !importClause.name && !!names && ts.isNamedImports(names) && names.elements.every((it) => it.isTypeOnly);
}

function isTypeExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true;
  return !!exportClause && ts.isNamedExports(exportClause) && exportClause.elements.every((it) => it.isTypeOnly);
}

/** Returns each import cycle once, as `a.ts > b.ts > a.ts`. Type imports count. */
export function cycles(files: readonly SourceFile[]): string[] {
  const graph = graphOf(files);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' > '));
    if (done.has(path) || trail.includes(path)) return;
    for (const { to } of graph.get(path) ?? []) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

/** Returns all direct and indirect imports of `entry`, including `import()`. */
export function reachable(files: readonly SourceFile[], entry: string): ImportOf[] {
  const graph = graphOf(files);
  const seen = new Set([entry]);
  for (const path of seen) {
    for (const { to, ours, kind } of graph.get(path) ?? []) if (ours && kind !== 'type') seen.add(to);
  }
  return [...seen].flatMap((path) => graph.get(path) ?? []).filter(({ kind }) => kind !== 'type');
}

function graphOf(files: readonly SourceFile[]): Map<string, readonly ImportOf[]> {
  return new Map(files.map((file) => [file.path, importsOf(file)]));
}
