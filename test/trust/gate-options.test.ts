import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { createDeferred } from '../../src/internal/promise.js';
import { refuseBesideGate, resolveGateOptions } from '../../src/trust/gate-options.js';
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

const digits = 'a'.repeat(64);
const digest = 'must be a digest: `sha256:` and 64 hexadecimal digits';

test.each<[object, string]>([
  [{ allow: [`sha256:${digits}`, 1] }, `\`allow[1]\` ${digest}, got 1`],
  [{ allow: [`sha256:${digits}a`] }, `\`allow[0]\` ${digest}, got "sha256:${digits}a"`],
  [{ allow: [`sha256:${digits.slice(1)}`] }, `\`allow[0]\` ${digest}, got "sha256:${digits.slice(1)}"`],
  [{ allow: [`xsha256:${digits}`] }, `\`allow[0]\` ${digest}, got "xsha256:${digits}"`],
  [{ allow: [`sha256:${digits.toUpperCase()}`] }, `\`allow[0]\` ${digest}, got "sha256:${digits.toUpperCase()}"`],
  [{ limits: { files: -1, bytes: 0 } }, '`limits.files` must be a whole number of 0 or more, got -1'],
  [{ limits: { files: 1 } }, '`limits.bytes` must be a whole number of 0 or more, got undefined'],
  [{ approve: 1 }, '`approve` must be a function, got 1'],
  [{ approveTimeoutMs: 0 }, '`approveTimeoutMs` must be milliseconds from 1 to 2147483647, got 0'],
  [{ workspaceDir: undefined }, '`workspaceDir` must be a non-empty string, got undefined'],
  [{ appName: 'a/b' }, '`appName` must be letters, digits, `_` and `-`, with a letter or digit first, got "a/b"'],
  [{ stateDir: 'state' }, '`stateDir` must be an absolute path, got "state"'],
  [
    { stateDir: '/ws/state' },
    '`stateDir` must not lie in the workspace /ws, got /ws/state: use another `cwd`, or another `stateDir` (`userDir` of a runtime)',
  ],
  [{ path: 1 }, '`path` must be a string, got 1'],
  [{ onUserHooksChanged: 1 }, '`onUserHooksChanged` must be a function, got 1'],
  [{ logger: {} }, '`logger.debug` must be a function, got undefined'],
  [{ clock: {} }, '`clock.now` must be a function, got undefined'],
])('options that are refused: %j', (options, message) => {
  const create = () => createTrustGate({ workspaceDir: '/ws', stateDir: '/state', ...options } as never);

  expect(create).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', message }));
});

test('limits of zero and a list of digests are accepted', () => {
  const { place } = resolveGateOptions({ workspaceDir: '/ws', stateDir: '/state', limits: { files: 0, bytes: 0 } });

  expect(place.limits).toEqual({ files: 0, bytes: 0 });
  expect(resolveGateOptions({ workspaceDir: '/ws', stateDir: '/s', allow: [`sha256:${digits}`] }).allow?.size).toBe(1);
});

test('an option of a new gate is refused only together with `gate`', () => {
  const check = (options: { gate?: object; allow?: readonly string[] | undefined }) => () =>
    refuseBesideGate(options, ['allow']);

  expect(check({ gate: {}, allow: [] })).toThrow('`allow` must not be set together with `gate`');
  expect(check({ gate: {}, allow: undefined })).not.toThrow();
  expect(check({ allow: [] })).not.toThrow();
});
