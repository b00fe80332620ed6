import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { script } from '../support/process/scratch.js';
import { attempt, makePlace } from '../support/trust/place.js';

test.each([
  [[], ''],
  [['one'], 'one'],
  [['one', 'two words'], 'one two words'],
])('a shell command line gets the arguments %j as its parameters', async (args, output) => {
  const place = makePlace();

  expect(await attempt(place.gate(), place.hook({ shell: true, command: 'echo "$@"', args }))).toBe(output);
});

test('a command line for bash runs in the bash of PATH, or else in /bin/sh', async () => {
  const place = makePlace();
  const [full, empty] = [join(place.root, 'full'), join(place.root, 'empty')];
  script(join(full, 'bash'), '#!/bin/sh\necho "bash got: $2"\n');
  mkdirSync(empty);
  const run = (path: string, shell: true | 'bash') =>
    attempt(place.gate({ path }), place.hook({ shell, command: 'echo good' }));

  expect(await run(full, 'bash')).toBe('bash got: echo good');
  expect(await run(full, true)).toBe('good');
  expect(await run(empty, 'bash')).toBe('good');
});
