import { test } from 'vitest';
import { playRandomAgUI } from '../../support/ui/random-ag-ui.js';

const seeds = Array.from({ length: 20 }, (_, index) => 32_000 + index);

test.each(seeds)('the client of AG-UI accepts the events of the random runs %i', playRandomAgUI);
