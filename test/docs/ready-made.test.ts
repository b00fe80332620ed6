import { expect, test } from 'vitest';
import * as lifecycles from '../../src/lifecycles/lifecycles.js';
import { readPage, rowsOf } from '../support/docs/doc-files.js';

const page = readPage('docs/lifecycles.md');
type Factory = (options: unknown) => { readonly priority: number };
/** The functions that return a lifecycle. The others of the entry sign a suspended run. */
const { openRun, sealRun, SealInvalidError, ...made } = lifecycles;
const factories = made as unknown as Record<string, Factory>;

/** Options for the factories that require some. */
const options: Record<string, unknown> = { limits: { tokens: 1 }, compaction: { maxTokens: 1 } };

test('the table of lifecycles.md lists every factory with its priority', () => {
  const rows = rowsOf(page.split('\n## ')[1] ?? '').slice(2);
  const listed = rows.map(([name = '', , priority]) => [/`(\w+)`/.exec(name)?.[1], Number(priority)]);
  const made = Object.keys(factories).map((name) => {
    const given = name === 'fallbackModels' ? [{ id: 'm', generate: async () => {} }] : (options[name] ?? {});
    return [name, factories[name]?.(given).priority];
  });

  expect(listed.sort()).toEqual(made.sort());
});

test.each(Object.keys(factories).filter((name) => name !== 'fallbackModels'))(
  'the section on %s has every option',
  (name) => {
    const section = page.split('\n## ').find((text) => text.startsWith(`${name}\n`)) ?? '';
    const listed = rowsOf(section).flatMap(([option = '']) => /^`(\w+)`$/.exec(option)?.[1] ?? []);
    let message = '';
    try {
      factories[name]?.({ ...(options[name] as object), zzzzzz: 1 });
    } catch (error) {
      ({ message } = error as Error);
    }
    const known = /known are (.*)$/.exec(message)?.[1]?.split(', ');

    expect(listed.sort()).toEqual(known?.sort());
  },
);
