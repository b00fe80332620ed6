import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { script, write } from '../support/process/scratch.js';
import { allowed, attempt, makeExtension, makePlace, verified } from '../support/trust/place.js';

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
  const [full, empty, plain] = [join(place.root, 'full'), join(place.root, 'empty'), join(place.root, 'plain')];
  script(join(full, 'bash'), '#!/bin/sh\necho "bash got: $2"\n');
  mkdirSync(join(empty, 'bash'), { recursive: true });
  write(join(plain, 'bash'), '#!/bin/sh\n');
  const run = (path: string, shell: true | 'bash') =>
    attempt(place.gate({ path }), place.hook({ shell, command: 'echo good' }));

  expect(await run(full, 'bash')).toBe('bash got: echo good');
  expect(await run(full, true)).toBe('good');
  expect(await run(empty, 'bash')).toBe('good');
  expect(await run(plain, 'bash')).toBe('good');
});

test('a relative argument of an extension package stays relative if the agent runs in the package', async () => {
  const place = makePlace();
  const { item, root } = makeExtension(place);
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(root);
  onTestFinished(() => cwd.mockRestore());
  const gate = place.gate();

  const decision = allowed(await gate.authorize({ ...item, args: ['hook.sh', join(root, 'lib')] }));
  const { launch, root: copy = '' } = verified(await gate.verify(decision));

  expect(launch?.args).toEqual(['hook.sh', join(copy, 'lib')]);
});
