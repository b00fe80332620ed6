import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDeferred } from '../../src/internal/promise.js';
import { refuseBesideGate } from '../../src/trust/gate-options.js';
import { manualClock } from '../support/lifecycle/manual-clock.js';
import { write } from '../support/process/scratch.js';
import { makePlace } from '../support/trust/place.js';

test('an approver has five minutes to answer without `approveTimeoutMs`', async () => {
  const place = makePlace();
  const clock = manualClock();
  const prompted = createDeferred<void>();
  const gate = place.gate({
    clock,
    approve: () => {
      prompted.resolve();
      return new Promise(() => {});
    },
  });
  const decided = gate.authorize(place.hook());
  await prompted.promise;

  await clock.advance(299_999);
  expect(clock.waiting).toBe(1);
  await clock.advance(1);

  expect(await decided).toMatchObject({ allowed: false, reason: 'approver-failed' });
  expect(place.logger.lines).toEqual([
    'warn: The approval prompt for "lint" had no answer within 300000 ms. The item is not allowed to run.',
  ]);
});

test('an item may have 5,000 files and 64 MiB without `limits`', async () => {
  const place = makePlace();
  const big = write(join(place.workspaceDir, 'big'), '');
  const authorized = async (bytes: number) => {
    truncateSync(big, bytes);
    return place.gate().authorize(place.hook({ command: 'true', files: ['big'] }));
  };

  expect(await authorized(64 * 1024 * 1024 + 1)).toMatchObject({
    reason: 'too-large',
    message: expect.stringContaining('at most 5000 files and 67108864 bytes'),
  });
  expect(await authorized(64 * 1024 * 1024)).toMatchObject({ allowed: true });
});

test('an option of a new gate is refused only together with `gate`', () => {
  const check = (options: { gate?: object; allow?: readonly string[] | undefined }) => () =>
    refuseBesideGate(options, ['allow']);

  expect(check({ gate: {}, allow: [] })).toThrow('`allow` must not be set together with `gate`');
  expect(check({ gate: {}, allow: undefined })).not.toThrow();
  expect(check({ allow: [] })).not.toThrow();
});
