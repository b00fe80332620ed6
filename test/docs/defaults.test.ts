import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSources } from '../support/architecture/source-file.js';
import { readPage, root, rowsOf } from '../support/docs/doc-files.js';

/** The names of the interfaces that an entry exports, or that these refer to. */
const reachable = new Set(
  readdirSync(`${root}test/package/api`).flatMap((name) =>
    [...readPage(`test/package/api/${name}`).matchAll(/^interface (\w+)/gm)].map(([, found]) => found),
  ),
);

const GROUP = /^(?:export )?interface (\w*(?:Options|Timeouts|Limits|Settings|System)\w*)[^{]*\{(.*?)\n\}/gms;
const MEMBER = /\/\*\*((?:(?!\*\/).)*)\*\/\s*readonly (\w+)\?:/gs;

/** Returns each option whose doc comment states a default, with this default. */
function defaultsIn(text: string): string[] {
  return [...text.matchAll(GROUP)].flatMap(([, group = '', body = '']) =>
    [...body.matchAll(MEMBER)].flatMap(([, comment = '', name]) => {
      const words = comment
        .replace(/\n\s*\*/g, ' ')
        .replace(/\s+/g, ' ')
        .trim();
      expect(words).not.toContain('(default');
      const [, value] = /Default:? (.*?)(?:\.(?= |$)|$)/.exec(words) ?? [];
      return value === undefined || !reachable.has(group) ? [] : [`${group}.${name}: ${value}`];
    }),
  );
}

const rows = rowsOf(readPage('docs/defaults.md')).filter(([option = '']) => /^`\w+\.\w+`$/.test(option));

test('docs/defaults.md lists every default that a doc comment states, with its cost', () => {
  const stated = readSources().flatMap(({ text }) => defaultsIn(text));

  expect(stated.length).toBeGreaterThan(150);
  expect(rows.map(([option = '', value]) => `${option.replaceAll('`', '')}: ${value}`).sort()).toEqual(stated.sort());
  expect(rows.filter(([, , cost]) => cost === undefined || cost === '')).toEqual([]);
});
