import type { Approver } from 'keelson/trust';
import { expect, test } from 'vitest';
import { script } from '../support/process/scratch.js';
import { allowed, makeExtension, makePlace } from '../support/trust/place.js';

test.each<readonly [string, Approver]>([
  ['the user declined', () => false],
  ['the approver did not return `true` or `false` in time', () => Promise.reject(new RangeError('no terminal'))],
])('the message of a denial says that %s', async (why, approve) => {
  const place = makePlace();

  const { message } = (await place.gate({ approve }).authorize(place.hook())) as { message?: string };

  expect(message).toBe(`The hook "lint" may not be used: ${why}.`);
});

test('the message of a denial says that the content has changed', async () => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(place.hook()));
  script(place.hookPath, '#!/bin/sh\necho evil\n');

  expect(await gate.verify(decision)).toMatchObject({
    message: 'The hook "lint" may not be used: its content is not what was approved.',
  });
});

test('the request for a new extension package has no hashes of an earlier approval', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  await place.gate().authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, [item]);

  expect(place.asked).toMatchObject([{ why: 'new', previousScripts: undefined }]);
});

test('the message of a denial ends in one period', async () => {
  const place = makePlace();

  expect(await place.gate().authorize(place.hook({ env: { LD_PRELOAD: './x.so' } }))).toMatchObject({
    message:
      'The hook "lint" may not be used: The item cannot be approved: it must not set LD_PRELOAD, which can make another program run.',
  });
});
