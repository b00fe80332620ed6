import { join } from 'node:path';
import type { ApprovalRequest } from 'keelson/trust';
import { expect, test } from 'vitest';
import { fileTexts } from '../../../src/trust/terminal/file-texts.js';
import { write } from '../../support/process/scratch.js';
import { makeExtension, makePlace } from '../../support/trust/place.js';

test('all files together show at most 60,000 characters, and each cut is marked', async () => {
  const place = makePlace();
  const files = Array.from({ length: 6 }, (_, at) => `${at}.txt`);
  const lines = [200, 200, 100, 300, 300, 300];
  for (const [at, file] of files.entries()) {
    write(join(place.workspaceDir, file), `${'x'.repeat(92)}\n`.repeat(lines[at] ?? 0));
  }
  await place.gate().authorize(place.hook({ command: '/bin/true', files }));

  const text = await fileTexts(place.asked[0] as ApprovalRequest);

  const rows = text.split('\n').filter((row) => /^ *\d+\| /.test(row));
  expect(rows.join('\n').length).toBeLessThanOrEqual(60_000);
  expect(text).toContain('"3.txt":');
  expect(text).toContain('… cut in line 101 of 300');
  expect(text.endsWith('\n2 more files are not shown: 4.txt, 5.txt')).toBe(true);
});

test('a file is left out if the files before it have exactly the 60,000 characters that fit', async () => {
  const place = makePlace();
  // A row is shown with its line number, a bar, a space and a line feed: 8 characters more.
  const row = `${'x'.repeat(92)}\n`;
  const texts = [row.repeat(200), row.repeat(200), row.repeat(100), row.repeat(100)];
  const files = texts.map((text, at) => write(join(place.workspaceDir, `${at}.txt`), text) && `${at}.txt`);
  write(join(place.workspaceDir, 'last.txt'), 'last');
  await place.gate().authorize(place.hook({ command: '/bin/true', files: [...files, 'last.txt'] }));

  const text = await fileTexts(place.asked[0] as ApprovalRequest);

  expect(text).not.toContain('cut in line');
  expect(text.endsWith('\n1 more files are not shown: last.txt')).toBe(true);
});

test('the files of an extension package are read from its directory', async () => {
  const place = makePlace();
  await place.gate().authorize(makeExtension(place).item);

  const text = await fileTexts(place.asked[0] as ApprovalRequest);

  expect(text).toContain('\n"lib/helper.sh":\n    1| echo good');
});

test('one file shows at most 20,000 characters', async () => {
  const place = makePlace();
  // 40 rows of at most 500 characters, each with 8 characters around it.
  write(join(place.workspaceDir, 'fits.txt'), 'x'.repeat(20_000 - 40 * 8));
  write(join(place.workspaceDir, 'long.txt'), 'x'.repeat(20_000 - 40 * 8 + 1));
  await place.gate().authorize(place.hook({ command: '/bin/true', files: ['fits.txt', 'long.txt'] }));

  const [fits = '', long = ''] = (await fileTexts(place.asked[0] as ApprovalRequest)).split('"long.txt"');

  expect([fits, long].map((text) => text.includes('cut in line'))).toEqual([false, true]);
});

test.each([
  [1024 * 1024, '    1| '],
  [1024 * 1024 + 1, '  not shown: '],
])('of a file with %i bytes, the first row begins with "%s"', async (size, row) => {
  const place = makePlace();
  write(join(place.workspaceDir, 'large.txt'), 'x'.repeat(size));
  await place.gate().authorize(place.hook({ command: '/bin/true', files: ['large.txt'] }));

  const text = await fileTexts(place.asked[0] as ApprovalRequest);

  expect(text.startsWith(`\n"large.txt":\n${row}`)).toBe(true);
});
