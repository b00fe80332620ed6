import { conceptAugmentation } from 'keelson/concepts';
import { expect, test } from 'vitest';

test.each([
  [{ profile: 'bold' }],
  [{ label: '--> x' }],
  [{ contextKey: '__proto__' }],
  [{ depth: 0 }],
  [{ maxEntities: 1.5 }],
  [{ timeouts: { totalMs: 0 } }],
  [{ timeouts: { conceptMs: 3e9 } }],
  [{ parallel: Number.NaN }],
  [{ buildContext: 'maenifold' }],
  [{ profil: 'safe' }],
  [{ timeouts: { concept: 5 } }],
  [{ timeouts: null }],
  [null],
  [{ textFields: 'text' }],
  [{ textFields: [5] }],
  [{ contextKey: 5 }],
])('refuses the options %j', (options) => {
  expect(() => conceptAugmentation(options as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }));
});
