import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runScript } from './run-script.js';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));

describe('S4-NFR3.5, S4-SUM.S, S4-SUM.N: each example runs as a program of its own', () => {
  test('there is one to start with, and several with hooks', () => {
    expect(files).toEqual(expect.arrayContaining(['01-quickstart.ts', '03-lifecycle-hooks.ts']));
    expect(files.length).toBeGreaterThanOrEqual(4);
  });

  test.concurrent.each(files)(
    '%s asserts its own outcome and ends well',
    async (file) => {
      const { code, stdout, stderr } = await runScript(`examples/${file}`);

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).not.toBe('');
    },
    60_000,
  );
});

test('S4-NFR2.AC: the example without hooks says exactly what it always said', async () => {
  const { stdout } = await runScript('examples/02-tools-and-streaming.ts');

  expect(stdout.split('\n')).toEqual([
    '… looking for rope',
    '… looking for sail',
    'count: {"article":"rope","number":12}',
    'count: There is no article "sail".',
    'There are 12 ropes. We do not sell sails. (2 turns, 30 tokens)',
    '',
  ]);
}, 60_000);
