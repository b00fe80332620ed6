import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/trust/decision.js';
import { fileTexts } from '../../../src/trust/terminal/file-texts.js';
import { write } from '../../support/process/scratch.js';
import { makePlace } from '../../support/trust/place.js';

test('files beyond the limit of the whole text are listed by name', async () => {
  const place = makePlace();
  const files = Array.from({ length: 6 }, (_, at) => `data/${at}.txt`);
  for (const file of files) write(join(place.workspaceDir, file), `${'x'.repeat(100)}\n`.repeat(1_000));
  await place.gate().authorize(place.hook({ files }));

  const text = await fileTexts(place.asked[0] as ApprovalRequest);

  const shown = files.filter((file) => text.includes(`"${file}":`));
  const hidden = files.slice(shown.length);
  expect(shown.length).toBeGreaterThan(2);
  expect(text.endsWith(`\n${hidden.length} more files are not shown: ${hidden.join(', ')}`)).toBe(true);
  expect(hidden.length).toBeGreaterThan(1);
  expect(text.length).toBeLessThan(90_000);
});

test('a file is left out if the files before it have exactly the 60,000 characters that fit', async () => {
  const place = makePlace();
  // A row is shown with its line number, a bar, a space and a line feed: 8 characters more.
  const row = `${'x'.repeat(92)}\n`;
  const texts = [row.repeat(200), row.repeat(200), row.repeat(100), `${'x'.repeat(4)}${row.repeat(100)}`];
  const files = texts.map((text, at) => write(join(place.workspaceDir, `${at}.txt`), text) && `${at}.txt`);
  write(join(place.workspaceDir, 'last.txt'), 'last');
  await place.gate().authorize(place.hook({ command: '/bin/true', files: [...files, 'last.txt'] }));

  const text = await fileTexts(place.asked[0] as ApprovalRequest);

  expect(text).not.toContain('cut in line');
  expect(text.endsWith('\n1 more files are not shown: last.txt')).toBe(true);
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
