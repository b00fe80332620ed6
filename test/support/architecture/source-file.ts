import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A file of `src` or `test`, with its path relative to that folder. Tests also make such objects as bad examples. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Returns every TypeScript file of a folder of the project, sorted by path. */
export function readSources(folder: 'src' | 'test' = 'src'): SourceFile[] {
  const root = fileURLToPath(new URL(`../../../${folder}`, import.meta.url));
  const paths = readdirSync(root, { recursive: true }).map((path) => String(path).replaceAll('\\', '/'));
  return paths
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

const trees = new WeakMap<SourceFile, ts.SourceFile>();

/** Parses a file once, because many rules read it. */
export function parse(file: SourceFile): ts.SourceFile {
  const tree = trees.get(file) ?? ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2022, true);
  trees.set(file, tree);
  return tree;
}

const nodesBelow = new WeakMap<ts.Node, readonly ts.Node[]>();

/** Returns all nodes below `node`, outermost first. */
export function descendants(node: ts.Node): readonly ts.Node[] {
  const known = nodesBelow.get(node);
  if (known !== undefined) return known;
  const found: ts.Node[] = [];
  nodesBelow.set(node, found);
  const visit = (child: ts.Node) => {
    found.push(child);
    ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return found;
}

/** Returns `path:line`, for a message. */
export function placeOf(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
