import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { coverageViolations, parseRequirements, type Requirement, readTests } from './support/requirements.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const lists = readdirSync(`${root}test/requirements`).map((name) =>
  readFileSync(`${root}test/requirements/${name}`, 'utf8'),
);
const requirements = lists.flatMap(parseRequirements);
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

function isProof({ proof }: Requirement): boolean {
  if (proof === 'test') return true;
  if (proof.startsWith('npm run ')) return proof.slice('npm run '.length) in scripts;
  return /^not-applicable: \S/.test(proof) || existsSync(root + proof);
}

test('every requirement is named by a test, and tests name no other', () => {
  expect(coverageViolations(requirements, readTests(`${root}test`))).toEqual([]);
});

test('every requirement has an id of its own, a wording and a proof that exists', () => {
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
  expect(requirements.filter(({ wording }) => wording === '')).toEqual([]);
  expect(requirements.filter((it) => !isProof(it))).toEqual([]);
});

test('a requirement without a test is found, and so is an unknown id', () => {
  const list = parseRequirements(
    'id\trequirement\tproof\nX1-1.1\tA.\ttest\nX1-2\tB.\tnpm run bench\n'.replaceAll('X1', 'S9'),
  );
  const text = `test.skip('${'S9'}-1.1: skipped', () => {});\n// covers: ${'S9'}-7\n`;

  expect(coverageViolations(list, [{ path: 'a.test.ts', text }])).toEqual([
    'no test names S9-1.1: A.',
    'a.test.ts names S9-7, which is in no list',
  ]);
  expect(coverageViolations(list, [{ path: 'a.test.ts', text: `test('${'S9'}-1.1: it works', f);` }])).toEqual([]);
});

const musts: Record<string, readonly string[]> = {
  'the six hooks': ['S4-FR1.1', 'S4-FR1.1.1', 'S4-FR1.1.2', 'S4-FR1.1.3', 'S4-FR1.1.4', 'S4-FR1.1.5', 'S4-FR1.1.6'],
  'the hook actions': ['S4-FR2.2', 'S4-FR2.2a', 'S4-FR2.2b', 'S4-FR2.2c', 'S4-FR2.2d'],
  'the list of lifecycles': ['S4-FR3.1', 'S4-NFR2.4'],
  'the builder': ['S4-FR3.2', 'S4-FR3.3', 'S4-FR3.4'],
  'the six points in a run': ['S4-FR4.1', 'S4-FR4.2', 'S4-FR4.3', 'S4-FR4.4', 'S4-FR4.5', 'S4-FR4.6'],
  'the defaults': ['S4-FR1.2', 'S4-FR1.AC2'],
  'the tests that knew no hooks': ['S4-NFR2.1'],
  'the price of one lifecycle': ['S4-NFR1.2'],
  'the API docs': ['S4-NFR3.1', 'S4-NFR3.AC'],
};
const shoulds: Record<string, readonly string[]> = {
  'an example': ['S4-NFR3.5'],
  'integration tests': ['S4-NFR4.2', 'S4-NFR4.5'],
  benchmarks: ['S4-NFR1.M'],
  'a guide': ['S4-NFR3.3'],
};

test.each(Object.entries(musts))('S4-SUM.M: %s must be there, and stands in the list', (_name, ids) => {
  expect(requirements.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]));
});

test.each(Object.entries(shoulds))('S4-SUM.S: %s should be there, and stands in the list', (_name, ids) => {
  expect(requirements.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]));
});
