import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A file of `src`, with its path relative to `src`. Tests also make such objects as bad examples. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Returns every TypeScript file of `src`, sorted by path. */
export function readSources(): SourceFile[] {
  const root = fileURLToPath(new URL('../../../src', import.meta.url));
  const paths = readdirSync(root, { recursive: true }).map((path) => String(path).replaceAll('\\', '/'));
  return paths
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export function parse({ path, text }: SourceFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
}

/** Returns all nodes below `node`, outermost first. */
export function descendants(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
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
