import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { coverageViolations, parseRequirements, type Requirement, readTests } from './support/requirements.js';

// The compiler parses every file with an id, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const root = fileURLToPath(new URL('..', import.meta.url));
const lists = readdirSync(`${root}test/requirements`)
  .filter((name) => name !== 'literals.tsv')
  .map((name) => readFileSync(`${root}test/requirements/${name}`, 'utf8'));
const requirements = lists.flatMap(parseRequirements);
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

function isProof({ proof }: Requirement): boolean {
  if (proof === 'test') return true;
  if (proof.startsWith('npm run ')) return proof.slice('npm run '.length) in scripts;
  return /^not-applicable: \S/.test(proof) || existsSync(root + proof);
}

test('every requirement id is named by a test, and every id in a test is listed', () => {
  expect(coverageViolations(requirements, readTests(`${root}test`))).toEqual([]);
});

test('every requirement has a unique id, a wording and an existing proof', () => {
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
  expect(requirements.filter(({ wording }) => wording === '')).toEqual([]);
  expect(requirements.filter((it) => !isProof(it))).toEqual([]);
});

test('a requirement without a test and an unknown id are found', () => {
  const list = parseRequirements(
    'id\trequirement\tproof\nX1-1.1\tA.\ttest\nX1-2\tB.\tnpm run bench\n'.replaceAll('X1', 'S9'),
  );
  const text = `test.skip('${'S9'}-1.1: skipped', () => {});\n// covers: ${'S9'}-7\n`;

  expect(coverageViolations(list, [{ path: 'a.test.ts', text }])).toEqual([
    'the requirement S9-1.1 must be named by a test: A.',
    'a.test.ts names the unknown requirement S9-7',
  ]);
  expect(coverageViolations(list, [{ path: 'a.test.ts', text: `test('${'S9'}-1.1: it works', f);` }])).toEqual([]);
});

const musts: Record<string, readonly string[]> = {
  'the six hooks': ['S4-FR1.1', 'S4-FR1.1.1', 'S4-FR1.1.2', 'S4-FR1.1.3', 'S4-FR1.1.4', 'S4-FR1.1.5', 'S4-FR1.1.6'],
  'the hook actions': ['S4-FR2.2', 'S4-FR2.2a', 'S4-FR2.2b', 'S4-FR2.2c', 'S4-FR2.2d'],
  'lists of lifecycles': ['S4-FR3.1', 'S4-NFR2.4'],
  'the builder methods': ['S4-FR3.2', 'S4-FR3.3', 'S4-FR3.4'],
  'the six points in a run': ['S4-FR4.1', 'S4-FR4.2', 'S4-FR4.3', 'S4-FR4.4', 'S4-FR4.5', 'S4-FR4.6'],
  'the defaults': ['S4-FR1.2', 'S4-FR1.AC2'],
  'the tests from before hooks': ['S4-NFR2.1'],
  'limits for the cost of a lifecycle': ['S4-NFR1.2'],
  'the API docs': ['S4-NFR3.1', 'S4-NFR3.AC'],
};
const shoulds: Record<string, readonly string[]> = {
  examples: ['S4-NFR3.5'],
  'integration tests': ['S4-NFR4.2', 'S4-NFR4.5'],
  benchmarks: ['S4-NFR1.M'],
  guides: ['S4-NFR3.3'],
};

test.each(Object.entries(musts))('S4-SUM.M: %s are required, and listed', (_name, ids) => {
  expect(requirements.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]));
});

test.each(Object.entries(shoulds))('S4-SUM.S: %s are recommended, and listed', (_name, ids) => {
  expect(requirements.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]));
});
