import { describe, test } from 'vitest';
import { inFiles, inJson, inMemory, sealed } from '../../support/agent/trees/places.js';
import { crashRandomTrees, playRandomTrees } from '../../support/agent/trees/random-trees.js';

describe('thousands of random trees of agents keep every rule, each step in another process', () => {
  test('with JSON and sealed texts', () => playRandomTrees(async () => [inJson(), sealed()], 3_000));

  test('with a session in memory', () => playRandomTrees(async () => [inMemory()], 2_000));

  test('with a session in files', () => playRandomTrees(async () => [await inFiles()], 200));

  test('with a session whose processes stop', () => crashRandomTrees(1_500));
});
