import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { apiReports, committedReport } from '../../scripts/api-report.mjs';
import { readEntries } from '../../scripts/entries.mjs';

const entries = readEntries();

function readJson(path: string) {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
}

describe('the list of entries is the same', () => {
  test('in the exports map, with types for ESM and CommonJS', () => {
    const expected = entries.map(({ name, specifier }) => [
      specifier.replace('keelson', '.'),
      {
        import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
        require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
      },
    ]);

    expect(readJson('package.json').exports).toEqual({
      ...Object.fromEntries(expected),
      './package.json': './package.json',
    });
  });

  test('in what is documented', () => {
    expect(readJson('typedoc.json').entryPoints).toEqual(entries.map(({ source }) => source));
  });
});

describe('the public surface is the one in test/package/api (`npm run api` writes it anew)', () => {
  const reports = apiReports();

  // covers: S4-NFR2.3
  test.each(entries)('of $specifier', ({ name }) => {
    expect(reports.get(name)).toBe(committedReport(name));
  });
});

describe('every error class of an entry is exported as a value', () => {
  test.each(entries)('of $specifier', async ({ name, source }) => {
    const [exported = ''] = committedReport(name).split('## Referred to');
    const classes = [...exported.matchAll(/^class (\w+Error) /gm)].map(([, error = '']) => error);
    const module = await import(new URL(`../../${source}`, import.meta.url).href);

    expect(classes.filter((error) => typeof module[error] !== 'function')).toEqual([]);
  });

  test('so the root lets `instanceof` tell a wrong option apart', async () => {
    const { Agent, OptionInvalidError } = await import('keelson');

    expect(() => new Agent({ model: {} as never })).toThrow(OptionInvalidError);
  });
});

test('S4-VER: the one check has every stage, and ends with the tests', () => {
  const stages = readJson('package.json').scripts.check.split(' && ');

  expect(stages).toEqual([
    'npm run lint',
    'npm run types',
    'npm run unused',
    'npm run build',
    'npm run docs',
    'npm run package',
    'npm run api:check',
    'npm test -- --coverage',
  ]);
});
