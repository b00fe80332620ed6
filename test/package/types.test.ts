import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';
import { readPage, root } from '../support/docs/doc-files.js';
import { EmptyProject } from '../support/package/empty-project.js';

const specifiers = readEntries().map(({ specifier }) => specifier);
const withoutPeers = specifiers.filter((name) => !['keelson/openai', 'keelson/otel'].includes(name));
const { dependencies, peerDependencies } = JSON.parse(readPage('package.json'));

let project: EmptyProject;
beforeAll(() => {
  project = new EmptyProject();
  project.link('@types/node');
});
afterAll(() => project[Symbol.dispose]());

/**
 * Compiles files of the project without `skipLibCheck`. Returns the errors in them, in our declarations and in those of
 * the dependencies. Errors in the declarations of optional packages are left out.
 */
function errorsOf(files: readonly string[], options: object, compiler = 'typescript-newest'): string[] {
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', ...options };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
  const { stdout } = project.node(`${root}node_modules/${compiler}/bin/tsc`, '-p', '.', '--pretty', 'false');
  const lines = stdout.split('\n').filter((line) => / error TS|^error /.test(line));
  const owners = [project.folder, ...Object.keys(dependencies).map((name) => `${root}node_modules/${name}`)];
  return lines.filter((line) => {
    const path = resolve(project.folder, line.replace(/\(\d+,\d+\): error.*/, ''));
    return owners.some((owner) => path.startsWith(`${owner}/`));
  });
}

test('the types of an entry point need no optional packages, even if the compiler checks every import', () => {
  const text = withoutPeers.map((name, index) => `export * as m${index} from '${name}';\n`).join('');
  for (const ending of ['mts', 'cts']) project.write(`alone.${ending}`, text);
  const options = { noUncheckedSideEffectImports: true, lib: ['es2022'], types: ['node'] };

  expect(errorsOf(['alone.mts', 'alone.cts'], options)).toEqual([]);
});

test('the types of the core need only the libraries of ES2022 and of browsers', () => {
  project.write('core.mts', "import { Agent } from 'keelson';\nexport const make = Agent;\n");

  expect(errorsOf(['core.mts'], { lib: ['es2022', 'dom'], types: [] })).toEqual([]);
});

/** Returns a module that requires a type for each value of each entry point. */
function valuesModule(): string {
  const script = `Promise.all(process.argv.slice(1).map((name) => import(name))).then((all) => console.log(JSON.stringify(all.map(Object.keys))))`;
  const values: string[][] = JSON.parse(project.node('-e', script, ...specifiers).stdout);
  const imports = specifiers.map((name, index) => `import * as m${index} from '${name}';`);
  const checks = values.map((keys, index) => {
    const union = keys.map((key) => `'${key}'`).join(' | ');
    return `export const v${index}: [keyof typeof m${index}, ${union}] extends [${union}, keyof typeof m${index}] ? true : Exclude<keyof typeof m${index}, ${union}> = true;`;
  });
  return [...imports, ...checks].join('\n');
}

/** Returns a module that passes types of the copy for require to the copy for import. */
function copiesModule(): string {
  const names = ['AgentLifecycle', 'Tool', 'Model', 'LifecycleLoader', 'RunContext', 'RunError'];
  const required = "with { 'resolution-mode': 'require' }";
  const checks = names.map((name) => `export const fit${name} = (given: required.${name}): imported.${name} => given;`);
  return `
    import type * as imported from 'keelson';
    import type * as required from 'keelson' ${required};
    import type { Extension } from 'keelson/extension';
    import type { Extension as RequiredExtension } from 'keelson/extension' ${required};
    import type { SessionStore } from 'keelson/store';
    import type { SessionStore as RequiredStore } from 'keelson/store' ${required};
    export const fit = (given: RequiredExtension): Extension => given;
    export const fitStore = (given: RequiredStore): SessionStore => given;
    ${checks.join('\n')}`;
}

describe('the packed declarations', () => {
  beforeAll(() => {
    for (const name of Object.keys(peerDependencies)) project.link(name);
    for (const ending of ['mts', 'cts']) project.write(`values.${ending}`, valuesModule());
    project.write('copies.mts', copiesModule());
    const text = readFileSync(join(root, 'test/support/agent/claims.ts'), 'utf8')
      .replace("'../../../src/index.js'", "'keelson'")
      .replace("'../../../src/lifecycles/lifecycles.js'", "'keelson/lifecycles'");
    project.write('claims.mts', text);
    project.write('broken.mts', text.replace('// @ts-expect-error', '//'));
  });

  // TypeScript 5.4 is the oldest version that accepts Zod's declarations without `skipLibCheck`, because they use
  // `NoInfer`.
  test.each([
    ['typescript-oldest', '5.4.5'],
    ['typescript-newest', '7.0.2'],
  ])(
    'compile without errors, match the exported values, and hold every claim about runs: %s %s',
    (compiler, version) => {
      const files = ['values.mts', 'values.cts', 'copies.mts', 'claims.mts', 'broken.mts'];
      const lib = ['es2023', 'esnext.disposable', 'dom'];
      const errors = errorsOf(files, { exactOptionalPropertyTypes: true, lib, types: ['node'] }, compiler);

      expect(JSON.parse(readPage(`node_modules/${compiler}/package.json`)).version).toBe(version);
      expect(errors.filter((error) => !error.startsWith('broken.mts'))).toEqual([]);
      // broken.mts repeats the claims, with one expected error that is not marked as expected.
      expect(errors).toHaveLength(1);
    },
  );

  test.each(['typescript-oldest', 'typescript', 'typescript-newest'])(
    'let a package export agents, tools and lifecycles without annotations: %s',
    (compiler) => {
      project.write('foreign.mts', readFileSync(join(root, 'test/support/package/foreign-package.ts'), 'utf8'));
      const options = {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: 'out',
        skipLibCheck: true,
      };

      expect(
        errorsOf(
          ['foreign.mts'],
          { ...options, lib: ['es2023', 'esnext.disposable', 'dom'], types: ['node'] },
          compiler,
        ),
      ).toEqual([]);
      const declared = readFileSync(join(project.folder, 'out/foreign.d.mts'), 'utf8');
      expect(declared).toContain('import("keelson").ContinueAction');
      expect(declared.replace(/\s+/g, ' ')).toContain('weather: import("keelson").Tool<unknown, { city: string; }>');
      expect(declared).not.toMatch(/dist\/|: any/);
    },
  );
});
