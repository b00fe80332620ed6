import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScript } from '../../support/examples/run-script.js';

/** The process imports the sources, because `npm test` has not built the library. */
const env = { TSX_TSCONFIG_PATH: 'tsconfig.json' };

test('S1-6.0, S1-6.2.1, S1-6.4.3: another process reads the state, in the same session only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-extension-'));
  try {
    const printed: string[] = [];
    for (const session of ['a', 'a', 'b']) {
      const outcome = await runScript('test/fixtures/extension/session-process.ts', { args: [folder, session], env });
      expect(outcome.stderr).toBe('');
      printed.push(outcome.stdout.trim());
    }
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const texts = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
    );

    expect(printed).toEqual(['0', '1', '0']);
    expect(texts.join('\n')).toContain('count');
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);
