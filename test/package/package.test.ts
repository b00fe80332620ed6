import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { apiReports, committedReport } from '../../scripts/api-report.mjs';
import { readEntries } from '../../scripts/entries.mjs';

const entries = readEntries();

function readJson(path: string) {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
}

describe('the list of entry points is the same in tsconfig.json and', () => {
  test('in the exports of package.json, with types for ESM and CommonJS', () => {
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

  test('in typedoc.json', () => {
    expect(readJson('typedoc.json').entryPoints).toEqual(entries.map(({ source }) => source));
  });
});

describe('the public API equals the reports in test/package/api (`npm run api` updates them):', () => {
  const reports = apiReports();

  // covers: S4-NFR2.3
  test.each(entries)('$specifier', ({ name }) => {
    expect(reports.get(name)).toBe(committedReport(name));
  });
});

describe('every error class in the API is exported as a value:', () => {
  test.each(entries)('$specifier', async ({ name, source }) => {
    const [exported = ''] = committedReport(name).split('## Referred to');
    const classes = [...exported.matchAll(/^class (\w+Error) /gm)].map(([, error = '']) => error);
    const module = await import(new URL(`../../${source}`, import.meta.url).href);

    expect(classes.filter((error) => typeof module[error] !== 'function')).toEqual([]);
  });

  test('a caller can recognise an option error with `instanceof`', async () => {
    const { Agent, OptionInvalidError } = await import('keelson');

    expect(() => new Agent({ model: {} as never })).toThrow(OptionInvalidError);
  });
});

test('S4-VER: `npm run check` has every stage, and ends with the tests', () => {
  const { scripts } = readJson('package.json');
  const [beside, last, ...more] = scripts.check.split(' && ');
  const groups = [...beside.matchAll(/npm:(\S+)/g)].map(([, name]) => scripts[name].split(' && '));

  expect(beside).toMatch(/^concurrently --raw --kill-others-on-fail( npm:check:\w+)+$/);
  expect(groups).toEqual([
    ['npm run lint', 'npm run unused', 'npm run types', 'npm run docs'],
    // The tests of the package compare the public API with its reports.
    ['npm run build', 'npm run package', 'npm run test:package'],
  ]);
  expect([last, more]).toEqual(['npm test -- --coverage', []]);
});
