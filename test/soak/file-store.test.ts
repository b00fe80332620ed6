import { test } from 'vitest';
import { checkKilledWriters } from '../support/stores/killed-writers.js';

test('all acknowledged writes survive a kill of the writing processes, 50 times', async () => {
  for (let round = 0; round < 50; round += 1) await checkKilledWriters(900);
});
