import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROGRAMS } from '../../src/programs/list.js';
import { root } from '../support/docs/doc-files.js';
import { factsOf, holesIn, programsPage, withTables } from '../support/docs/program-tables.js';

test('each fact about a program is known from a source that can be opened, or is unknown', () => {
  expect(PROGRAMS.flatMap((program) => holesIn(factsOf(program, PROGRAMS)))).toEqual([]);
  expect(PROGRAMS.filter(({ read, version }) => !/^20\d\d-\d\d$/.test(read) || version === '')).toEqual([]);
});

test('a table with a hole is found', () => {
  const [first] = PROGRAMS;
  const { timeUnit: _timeUnit, ...hooks } = first?.hooks ?? {};
  const holed = { ...first, id: 'holed', hooks: { ...hooks, tools: { value: {}, sources: ['somewhere'] } } } as never;

  expect(holesIn(factsOf(holed, PROGRAMS))).toEqual(['holed.hooks.timeUnit', 'holed.hooks.tools']);
});

test('each event that does not run says why, and each other event says where it runs', () => {
  const events = PROGRAMS.flatMap(({ hooks }) =>
    hooks && hooks.events !== 'unknown' ? Object.entries(hooks.events.value) : [],
  );

  expect(events.filter(([, { event, absent }]) => (event === undefined) === (absent === undefined))).toEqual([]);
  expect(events.filter(([, { absent = 'a reason' }]) => absent.length < 8)).toEqual([]);
});

test('docs/programs.md is the tables', async () => {
  await expect(programsPage(PROGRAMS)).toMatchFileSnapshot(`${root}docs/programs.md`);
});

test.each(['shell-hooks', 'hooks-map'])('the marked tables of docs/%s.md are made from the programs', async (name) => {
  const page = `${root}docs/${name}.md`;
  const text = readFileSync(page, 'utf8');

  expect(text).toMatch(/<!-- from src\/programs: \w+ -->/);
  await expect(withTables(text, PROGRAMS)).toMatchFileSnapshot(page);
});
