import { expect, test } from 'vitest';
import { attempt, makePlace } from '../support/trust/place.js';

test.each([
  [[], ''],
  [['one'], 'one'],
  [['one', 'two words'], 'one two words'],
])('a shell command line gets the arguments %j as its parameters', async (args, output) => {
  const place = makePlace();

  expect(await attempt(place.gate(), place.hook({ shell: true, command: 'echo "$@"', args }))).toBe(output);
});
