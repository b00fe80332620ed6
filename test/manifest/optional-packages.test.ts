import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reachable } from '../support/architecture/import-graph.js';
import { readSources } from '../support/architecture/source-file.js';

const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const sources = readSources();

test.each(['manifest/manifest.ts', 'runtime/runtime.ts'])('importing %s needs no optional package', (entry) => {
  const packages = reachable(sources, entry)
    .filter(({ ours, kind, to }) => !ours && kind === 'value' && !to.startsWith('node:'))
    .map(({ to }) => to);

  expect(packages).toContain('zod');
  expect(packages.filter((name) => !(name in dependencies))).toEqual([]);
});
