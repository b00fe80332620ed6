import { test } from 'vitest';
import { crashRandomTrees } from '../../support/agent/trees/random-trees.js';

test('no call of a random tree of agents runs twice unnoticed when processes stop at any append', () =>
  crashRandomTrees(40));
