import { expect, test } from 'vitest';
import { allowed, makePlace } from '../../support/trust/place.js';

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

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'no-approver', approvedBefore: false });
  expect(place.asked).toHaveLength(1);
});
