import { expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/trust/decision.js';
import { describeItem } from '../../../src/trust/terminal/describe-request.js';
import { makePlace } from '../../support/trust/place.js';

test('an empty list has no row', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook({ reads: [], files: [] }));

  const text = describeItem(place.asked[0] as ApprovalRequest);

  expect(text).toContain('  files covered: 1\n');
  expect(text).not.toContain('reads:');
  expect(text).not.toContain('with files:');
});

test('the members of a list are separated by commas', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook({ reads: ['TOKEN', 'HOST'] }));

  const text = describeItem({ ...(place.asked[0] as ApprovalRequest), unbound: ['lib', 'tools'] });

  expect(text).toContain('  reads: TOKEN, HOST\n');
  expect(text).toContain('  NOT covered: the files in "lib", "tools"\n');
});
