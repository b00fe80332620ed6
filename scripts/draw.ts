// Draws sentences for a reader who does not see the code: `npm run draw -- <seed> [comments] [messages] [paragraphs]`.
// The same seed, such as the hash of a commit, draws the same sentences from the same files.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Passage, readComments, readLiterals, readMarkdown } from '../test/support/docs/prose.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const [seed = '', comments = '100', messages = '60', paragraphs = '30'] = process.argv.slice(2);
if (seed === '') throw new TypeError('The first argument must be a seed, such as the hash of a commit.');

print('Comments', passagesIn('src', /\.ts$/, readComments), Number(comments));
print('Messages', withWords(4, passagesIn('src', /\.ts$/, readLiterals)), Number(messages));
print(
  'Paragraphs',
  withWords(8, passagesIn('docs', /^(?!api\/|decisions\/).*\.md$/, readMarkdown)),
  Number(paragraphs),
);

function passagesIn(folder: string, kind: RegExp, read: (file: string, text: string) => Passage[]): Passage[] {
  return readdirSync(root + folder, { recursive: true })
    .map(String)
    .filter((path) => kind.test(path))
    .flatMap((path) => read(`${folder}/${path}`, readFileSync(`${root}${folder}/${path}`, 'utf8')));
}

/** Leaves out short passages, such as table cells with a name. */
function withWords(least: number, passages: readonly Passage[]): Passage[] {
  return passages.filter(({ text }) => text.split(/\s+/).length >= least);
}

function print(title: string, passages: readonly Passage[], count: number): void {
  const drawn = passages
    .map((passage, index) => ({ passage, key: hash(`${seed} ${title} ${index}`) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, count);
  console.log(`## ${title}\n`);
  for (const { passage } of drawn) console.log(`- ${passage.file}:${passage.line}: ${passage.text}`);
  console.log('');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
