import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePlace, manifest } from '../support/manifest/place.js';
import { cpuNow } from '../support/process/cpu-time.js';
import { write } from '../support/process/scratch.js';

const MANY = 100_000;
/** Keeps the front matter below its limit of 64 KiB. */
const FEWER = 10_000;
const setting = { name: 'token', description: 'A token.' };

/** Inputs that a slow parser could spend minutes on. A manifest is read before any approval. */
const manifests: readonly (readonly [string, string, number])[] = [
  ['an unterminated string of escaped quotes', `{"a":"${'\\"'.repeat(MANY)}`, 0],
  ['deep brackets', `{"a":${'['.repeat(MANY)}${']'.repeat(MANY)}}`, 0],
  ['an unclosed reference', text({ settings: [setting], skills: [skill(`\${${' '.repeat(MANY)}`)] }), 1],
  ['many unclosed references', text({ settings: [setting], skills: [skill('${settings.'.repeat(MANY / 2))] }), 1],
  [
    'many settings and skills',
    text({
      settings: Array.from({ length: 8_000 }, (_, index) => ({ ...setting, name: `s${index}` })),
      skills: Array.from({ length: 3_000 }, (_, index) => ({ ...skill('Do it.'), name: `k${index}` })),
    }),
    1,
  ],
];

test.each(manifests)('a manifest with %s is parsed or refused quickly', async (_what, content, found) => {
  const place = makePlace();
  place.workspace('x', content);
  const begun = cpuNow();

  const { loader } = await place.load();

  expect(loader.extensions()).toHaveLength(found);
  expect(cpuNow() - begun).toBeLessThan(3_000);
});

const skills: readonly (readonly [string, string])[] = [
  ['a long block of text', `description: |\n${'  a\n'.repeat(FEWER)}`],
  ['a long gap', `description: a${' '.repeat(FEWER)}b\n`],
  ['many allowed tools', `description: a\nallowed-tools: ${'a '.repeat(FEWER)}\n`],
  ['many brackets', `description: a\nallowed-tools: ${'a( '.repeat(FEWER)}\n`],
  ['many quotes', `description: "${'\\"'.repeat(FEWER)}\n`],
];

test.each(skills)('a SKILL.md with %s is parsed quickly', async (_what, fields) => {
  const place = makePlace();
  write(join(place.workspaceDir, 'skills/odd/SKILL.md'), `---\nname: odd\n${fields}---\nDo it.`);
  const begun = cpuNow();

  const { loader } = await place.load({ skillFolders: ['skills'], approve: place.yes });

  expect(loader.status().skills).toEqual(['odd']);
  expect(cpuNow() - begun).toBeLessThan(3_000);
});

function skill(prompt: string) {
  return { name: 'a', description: 'A skill.', prompt };
}

function text(more: Record<string, unknown>): string {
  return JSON.stringify(manifest('x', more));
}
