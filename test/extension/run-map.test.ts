import { expect, test } from 'vitest';
import { RunMap } from '../../src/extension/run.js';
import { RUN } from '../../src/lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../src/lifecycle/run-context.js';

test.each<[string, () => RunContext]>([
  ['the run of an agent', () => ({ [RUN]: {} }) as never],
  ['a frozen object', () => Object.freeze({}) as never],
])('keeps one value per run and map for %s', (_title, make) => {
  const maps = [new RunMap<string>(), new RunMap<string>()] as const;
  const runs = [make(), make()] as const;
  maps[0].set(runs[0], 'first');
  maps[1].set(runs[0], 'second');

  expect(maps.map((map) => runs.map((run) => map.get(run)))).toEqual([
    ['first', undefined],
    ['second', undefined],
  ]);
  expect(Object.keys(runs[0])).toEqual([]);
});
