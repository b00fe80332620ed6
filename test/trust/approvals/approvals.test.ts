import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval } from 'keelson/trust';
import { expect, test } from 'vitest';
import { allowed, makeExtension, makePlace } from '../../support/trust/place.js';

test('a revoked approval leaves the refusal of another item in place', async () => {
  const place = makePlace();
  const prompts: string[] = [];
  const gate = place.gate({
    approve: ({ item }) => {
      prompts.push(item.name);
      return item.name === 'wanted';
    },
  });
  const { digest } = allowed(await gate.authorize(place.hook({ name: 'wanted' })));
  await gate.authorize(place.hook({ name: 'refused' }));

  await gate.revoke(digest ?? '');

  expect(await gate.authorize(place.hook({ name: 'refused' }))).toMatchObject({ allowed: false, reason: 'declined' });
  expect(prompts).toEqual(['wanted', 'refused']);
});

test('an item whose approval was revoked after the decision is denied without a prompt', async () => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(place.hook()));
  await gate.revoke(decision.digest ?? '');

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'no-approver', approvedBefore: true });
  expect(place.asked).toHaveLength(1);
});

test('an approval that is revoked as soon as it is stored is not kept in memory', async () => {
  const place = makePlace();
  const gate = place.gate();
  const { store } = gate;
  const approve = store.approve.bind(store);
  Object.assign(store, {
    approve: async (approval: Approval) => {
      await approve(approval);
      await place.gate().revoke(approval.digest);
    },
  });

  expect(await gate.authorize(place.hook())).toMatchObject({ allowed: false, reason: 'declined' });
  expect(place.asked).toHaveLength(1);
  expect(await place.gate({ approve: undefined }).authorize(place.hook())).toMatchObject({ reason: 'no-approver' });
});

test('an item whose approval another process revoked counts as approved before', async () => {
  const place = makePlace();
  const gate = place.gate({ approve: undefined });
  const { digest } = allowed(await place.gate().authorize(place.hook()));
  allowed(await gate.authorize(place.hook()));
  await place.gate().revoke(digest ?? '');

  expect(await gate.authorize(place.hook())).toMatchObject({ reason: 'no-approver', approvedBefore: true, digest });
});

test('a process looks for unused copies at its first approval only', async () => {
  const place = makePlace();
  const copies = ['a', 'b'].map((letter) => join(place.stateDir, 'approved', letter.repeat(64)));
  const gate = place.gate();
  for (const [at, copy] of copies.entries()) {
    mkdirSync(copy, { recursive: true });
    utimesSync(copy, 1_000, 1_000);
    await gate.authorize(place.hook({ name: `hook ${at}` }));
  }

  expect(copies.map((copy) => existsSync(copy))).toEqual([false, true]);
});

test('an invalid answer of an approver is reported with the valid answers, for an item and for a package', async () => {
  const place = makePlace();
  const { item } = makeExtension(place);
  const gate = place.gate({ approve: () => 'yes' as never });

  await gate.authorize(place.hook());
  await gate.authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, [item]);

  expect(place.logger.lines).toEqual([
    'warn: The approver must return a boolean for "lint", got "yes". The item is not allowed to run.',
    expect.stringContaining('must return a boolean, or `declined` with digests of its parts, for "ext"'),
  ]);
});

test('a failure of the approver is logged with the name of the item', async () => {
  const place = makePlace();
  const gate = place.gate({ approve: () => Promise.reject(new RangeError('boom')) });

  await gate.authorize(place.hook());

  expect(place.logger.lines).toEqual(['error: The approver failed for "lint". The item is not allowed to run.']);
});
