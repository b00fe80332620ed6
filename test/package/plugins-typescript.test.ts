import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-typescript-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stripsTypes = 'typescript' in process.features && Boolean(process.features.typescript);

/** Creates a project with the build of this package, its dependencies and the given packages. */
function projectWith(name: string, ...packages: readonly string[]): string {
  const project = join(folder, name);
  mkdirSync(join(project, 'node_modules/keelson'), { recursive: true });
  for (const part of ['package.json', 'dist'])
    cpSync(join(root, part), join(project, 'node_modules/keelson', part), { recursive: true });
  for (const dependency of ['@cfworker', 'eventemitter3', 'p-timeout', 'zod', ...packages]) {
    symlinkSync(realpathSync(join(root, 'node_modules', dependency)), join(project, 'node_modules', dependency));
  }
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  writeFileSync(join(project, 'my-app.plugins.ts'), CONFIG);
  writeFileSync(join(project, 'plugin.ts'), PLUGIN);
  writeFileSync(join(project, 'plain.mjs'), "await Promise.resolve();\nexport default { name: 'plain' };\n");
  return project;
}

const CONFIG = `import type { PluginConfig } from 'keelson/plugins';
export default { plugins: [{ path: './plugin.ts', options: { greeting: 'Ahoy' } }, { path: './plain.mjs' }] } satisfies PluginConfig;
`;

const PLUGIN = `import { definePlugin } from 'keelson/plugins';
interface Options { readonly greeting?: string }
export default definePlugin(async (options?: Record<string, unknown>) => {
  const { greeting = 'Hello' } = (options ?? {}) as Options;
  return { name: 'greeter', hooks: { beforeMessage: (message: string): string => greeting + ', ' + message } };
});
`;

const MAIN = `
  const model = scriptedModel(['end']);
  const agent = new Agent({ model, loaders: [plugins({ config: process.argv[2] })], logger: { debug() {}, info() {}, warn() {}, error() {} } });
  const outcome = await agent.run('sailor').then(() => model.requests[0].messages[0].content, (error) => error.message);
  const { details, error } = agent.status().loaders[0];
  console.log(JSON.stringify({ outcome, plugins: details.plugins.map(({ name }) => name), error }));
`;

const runs = {
  import: `import { Agent } from 'keelson'; import { plugins } from 'keelson/plugins'; import { scriptedModel } from 'keelson/testing'; ${MAIN}`,
  require: `(async () => { const { Agent } = require('keelson'); const { plugins } = require('keelson/plugins'); const { scriptedModel } = require('keelson/testing'); ${MAIN} })();`,
};

function run(project: string, form: keyof typeof runs, config = 'my-app.plugins.ts') {
  const file = join(project, form === 'import' ? 'main.mjs' : 'main.cjs');
  writeFileSync(file, runs[form]);
  return JSON.parse(execFileSync(process.execPath, [file, config], { cwd: project, encoding: 'utf8' }));
}

describe.each(['import', 'require'] as const)(
  'S3-1.3: plugins in TypeScript, with the package loaded by %s',
  (form) => {
    test('are loaded by the runtime or by jiti', () => {
      expect(run(projectWith(`with-jiti-${form}`, 'jiti'), form)).toEqual({
        outcome: 'Ahoy, sailor',
        plugins: ['greeter', 'plain'],
      });
    });

    test.skipIf(stripsTypes)(
      'without support of the runtime and without jiti give an error with three solutions',
      () => {
        const { outcome, plugins } = run(projectWith(`without-${form}`), form);

        expect(plugins).toEqual([]);
        expect(outcome).toMatch(/cannot import the TypeScript file \S*my-app\.plugins\.ts/);
        for (const way of ['Node 22.18', 'npm install jiti', '.mjs']) expect(outcome).toContain(way);
      },
    );

    test.each([
      ['imports', "import './plain.mjs';"],
      ['awaits', 'await Promise.resolve();'],
    ])(
      'in a CommonJS package are loaded by jiti, and without it give an error with three solutions: a module that %s',
      (does, first) => {
        const outcomes = [['jiti'], []].map((packages) => {
          const project = projectWith(`commonjs-${does}-${form}-${packages}`, ...packages);
          writeFileSync(join(project, 'package.json'), '{"private":true,"type":"commonjs"}');
          writeFileSync(join(project, 'my-app.plugins.js'), `${first}\nexport default [{ path: 'plain.mjs' }];\n`);
          return run(project, form, 'my-app.plugins.js');
        });

        expect(outcomes).toEqual([
          { outcome: 'sailor', plugins: ['plain'] },
          {
            outcome: expect.stringContaining('my-app.plugins.js is an ES module'),
            plugins: [],
            error: expect.anything(),
          },
        ]);
        for (const way of ['.mjs', '"type": "module"', 'npm install jiti']) expect(outcomes[1].outcome).toContain(way);
      },
    );
  },
);
