import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A documentation page, with its path relative to the root of the repository. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A fenced code block of a page. */
export interface Block {
  readonly path: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** Returns the README and every guide in docs/, without the generated API reference. */
export function readPages(): Page[] {
  const guides = readdirSync(`${root}docs`, { recursive: true }).map((path) => `docs/${path}`.replaceAll('\\', '/'));
  const paths = ['README.md', ...guides.filter((path) => path.endsWith('.md') && !path.startsWith('docs/api/'))];
  return paths.map((path) => ({ path, text: readFileSync(root + path, 'utf8') }));
}

export function readPage(path: string): string {
  return readFileSync(root + path, 'utf8');
}

export function blocksOf({ path, text }: Page): Block[] {
  return [...text.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => ({
    ...{ path, language },
    line: text.slice(0, index).split('\n').length,
    code: code.trim(),
  }));
}

/** Returns the cells of all tables in a Markdown text, one array per row. Includes header and separator rows. */
export function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const rows = lines.map((line) => line.split('|').slice(1, -1));
  return rows.map((row) => row.map((cell) => cell.trim()));
}
