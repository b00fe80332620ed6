import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/docs/doc-files.js';
import { EmptyProject } from '../support/package/empty-project.js';
import { parseRequirements } from '../support/requirements.js';

/** The literal values that the requirements state, with the probe of probes.mjs that reads each from the library. */
const [, ...rows] = readFileSync(`${root}test/requirements/literals.tsv`, 'utf8')
  .replace(/\n$/, '')
  .split('\n')
  .map((line) => line.split('\t'));

const requirements = new Set(
  readdirSync(`${root}test/requirements`)
    .filter((name) => name !== 'literals.tsv')
    .flatMap((name) => parseRequirements(readFileSync(`${root}test/requirements/${name}`, 'utf8')))
    .map(({ id }) => id),
);

const FOLDER = `${root}test/fixtures/literals`;

let project: EmptyProject;
let found: Readonly<Record<string, unknown>>;
beforeAll(() => {
  project = new EmptyProject();
  project.link('@modelcontextprotocol/sdk');
  for (const name of readdirSync(FOLDER)) project.write(name, readFileSync(`${FOLDER}/${name}`, 'utf8'));
  const { stdout, stderr } = project.node('probes.mjs');
  expect(stderr).toBe('');
  found = JSON.parse(stdout);
});
afterAll(() => project[Symbol.dispose]());

test.each(rows)('%s: the packed library has the literal value of `%s`', (_id, probe = '', value = '') => {
  expect(found[probe]).toEqual(JSON.parse(value));
});

test('each probe has a row, and each row a requirement', () => {
  expect(Object.keys(found).sort()).toEqual([...new Set(rows.map(([, probe]) => probe))].sort());
  expect(rows.filter((row) => row.length !== 4)).toEqual([]);
  expect(rows.map(([id = '']) => id).filter((id) => !requirements.has(id))).toEqual([]);
});
