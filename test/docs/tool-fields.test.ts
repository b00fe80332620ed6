import { expect, test } from 'vitest';
import { known } from '../../src/programs/cell.js';
import { PROGRAMS } from '../../src/programs/list.js';
import { readPage, rowsOf } from '../support/docs/doc-files.js';

test('shell-hooks.md lists the documented arguments of the tools of other programs', () => {
  const [, section = ''] = readPage('docs/shell-hooks.md').split('### Tool names and arguments of other programs');
  const rows = rowsOf(section.split('\n### ')[0] ?? '').slice(2);
  const listed = rows.map(([format = '', tools = '']) => [
    format.replaceAll('`', ''),
    Object.fromEntries(
      tools
        .replaceAll('`', '')
        .split('. ')
        .map((tool) => tool.split(': '))
        .map(([name, fields]) => [name, fields?.split(', ')]),
    ),
  ]);

  const documented = PROGRAMS.flatMap(({ id, hooks }) => {
    const tools = Object.entries(known(hooks?.tools, {})).flatMap(([name, { args }]) => (args ? [[name, args]] : []));
    return tools.length === 0 ? [] : [[id, Object.fromEntries(tools)]];
  });

  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(documented));
});
