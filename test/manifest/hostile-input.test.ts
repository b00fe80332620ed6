import { join } from 'node:path';
import { expect, test } from 'vitest';
import { growth } from '../support/growth.js';
import { makePlace, manifest } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

const setting = { name: 'token', description: 'A token.' };

/** Inputs that a slow parser could spend minutes on. A manifest is read before any approval. */
const manifests: readonly (readonly [string, (size: number) => string, number])[] = [
  ['an unterminated string of escaped quotes', (size) => `{"a":"${'\\"'.repeat(size)}`, 0],
  ['deep brackets', (size) => `{"a":${'['.repeat(size)}${']'.repeat(size)}}`, 0],
  ['an unclosed reference', (size) => text({ settings: [setting], skills: [skill(`\${${' '.repeat(size)}`)] }), 1],
  [
    'many unclosed references',
    (size) => text({ settings: [setting], skills: [skill('${settings.'.repeat(size / 2))] }),
    1,
  ],
  [
    'many settings and skills',
    (size) =>
      text({
        settings: Array.from({ length: size / 30 }, (_, index) => ({ ...setting, name: `s${index}` })),
        skills: Array.from({ length: size / 90 }, (_, index) => ({ ...skill('Do it.'), name: `k${index}` })),
      }),
    1,
  ],
];

test.each(manifests)('a manifest with %s is parsed or refused in linear time', async (_what, contentOf, found) => {
  const load = (size: number) => {
    const place = makePlace();
    place.workspace('x', contentOf(size));
    return async () => expect((await place.load()).loader.extensions()).toHaveLength(found);
  };

  expect(await growth(6_000, load)).toBeLessThan(100);
});

const skills: readonly (readonly [string, (size: number) => string])[] = [
  ['a long block of text', (size) => `description: |\n${'  a\n'.repeat(size)}`],
  ['a long gap', (size) => `description: a${' '.repeat(size)}b\n`],
  ['many allowed tools', (size) => `description: a\nallowed-tools: ${'a '.repeat(size)}\n`],
  ['many brackets', (size) => `description: a\nallowed-tools: ${'a( '.repeat(size)}\n`],
  ['many quotes', (size) => `description: "${'\\"'.repeat(size)}\n`],
];

test.each(skills)('a SKILL.md with %s is parsed in linear time', async (_what, fieldsOf) => {
  const load = (size: number) => {
    const place = makePlace();
    write(join(place.workspaceDir, 'skills/odd/SKILL.md'), `---\nname: odd\n${fieldsOf(size)}---\nDo it.`);
    const options = { skillFolders: ['skills'], approve: place.yes };
    return async () => expect((await place.load(options)).loader.status().skills).toEqual(['odd']);
  };

  // The front matter may have 64 KiB.
  expect(await growth(700, load)).toBeLessThan(100);
});

function skill(prompt: string) {
  return { name: 'a', description: 'A skill.', prompt };
}

function text(more: Record<string, unknown>): string {
  return JSON.stringify(manifest('x', more));
}
