import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Page, root } from './doc-files.js';

/** Returns the relative links of a page that lead to no file, to no heading, or out of the folder. */
export function brokenLinks({ path, text }: Page, folder: string = root): string[] {
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links
    .filter((link) => !leadsSomewhere(folder, targetOf(path, link)))
    .map((link) => `${path} links to ${link}`);
}

interface Target {
  readonly file: string;
  readonly anchor: string | undefined;
}

function targetOf(from: string, link: string): Target {
  const [file = '', anchor] = link.split('#');
  return { file: file === '' ? from : normalize(join(dirname(from), file)), anchor };
}

function leadsSomewhere(folder: string, { file, anchor }: Target): boolean {
  if (file.startsWith('..') || !existsSync(join(folder, file))) return false;
  return anchor === undefined || anchorsOf(join(folder, file)).includes(anchor);
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
