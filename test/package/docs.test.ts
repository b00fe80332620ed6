import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, TSConfigReader, TypeDocReader } from 'typedoc';
import { expect, test } from 'vitest';

const options = fileURLToPath(new URL('../../typedoc.json', import.meta.url));

/** Returns the number of warnings that typedoc gives for a source text with the options of the package. */
async function warningsFor(source: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-docs-'));
  try {
    writeFileSync(join(folder, 'planted.ts'), source);
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "types": [] }, "files": ["planted.ts"] }');
    const given = { options, tsconfig: join(folder, 'tsconfig.json'), entryPoints: [join(folder, 'planted.ts')] };
    // Resets the exceptions, because they name modules of the package.
    const app = await Application.bootstrap({ ...given, intentionallyNotExported: [], logLevel: 'None' }, [
      new TypeDocReader(),
      new TSConfigReader(),
    ]);
    const project = await app.convert();
    if (project) app.validate(project);
    return project ? app.logger.warningCount : Number.NaN;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('S4-NFR3.AC, S4-NFR3.1: an export without a doc comment gives a warning, which fails `npm run docs`', async () => {
  expect(await warningsFor('/** Doubles. */\nexport const double = (x: number): number => x * 2;\n')).toBe(0);
  expect(await warningsFor('export const double = (x: number): number => x * 2;\n')).toBe(1);
});
