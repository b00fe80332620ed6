import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PluginEntry } from 'keelson/plugins';
import { calls, says } from 'keelson/testing';
import { type ApprovalRequest, createTrustGate } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { keptLog } from '../../support/concepts/augmented-run.js';
import { agentOf, folderWith, lastResult, noteBoard } from '../../support/plugins/plugin-folder.js';

const script = () => [says('end')];
const plugin = (name: string) => `export default { name: '${name}' };`;

/** Loads one entry of a configuration file in `app`, a subdirectory of a directory with these files. */
async function load(files: Readonly<Record<string, string>>, entry: PluginEntry) {
  const folder = folderWith({ ...files, 'app/x.plugins.json': JSON.stringify([entry]) });
  const config = join(folder, 'app/x.plugins.json');
  const { agent, status, log } = agentOf({ config, workspaceDir: folderWith() }, { script: script() });
  await agent.run('go');
  const { plugins, failures } = status();
  return { folder, log, failures, loaded: plugins.map(({ name, path }) => [name, path.slice(folder.length + 1)]) };
}

const at = 'app/node_modules/guard';

describe('an entry that names a package', () => {
  test.each<[title: string, files: Readonly<Record<string, string>>, path: readonly [entry: string, file: string]]>([
    [
      'by the `import` condition of its exports',
      {
        [`${at}/package.json`]:
          '{ "name": "guard", "exports": { "import": "./dist/i.mjs", "require": "./dist/r.cjs" } }',
        [`${at}/dist/i.mjs`]: plugin('own'),
        [`${at}/dist/r.cjs`]: 'throw new Error("the wrong file");',
      },
      ['guard', `${at}/dist/i.mjs`],
    ],
    [
      'by its `main`, as CommonJS',
      {
        [`${at}/package.json`]: '{ "name": "guard", "main": "lib/main" }',
        [`${at}/lib/main.js`]: "module.exports = { name: 'own' };",
      },
      ['guard', `${at}/lib/main.js`],
    ],
    [
      'by its index file',
      { [`${at}/package.json`]: '{ "name": "guard" }', [`${at}/index.js`]: "module.exports = { name: 'own' };" },
      ['guard', `${at}/index.js`],
    ],
    [
      'from the node_modules of a parent directory',
      {
        'node_modules/@acme/guard/package.json': '{ "name": "@acme/guard", "type": "module", "exports": "./i.js" }',
        'node_modules/@acme/guard/i.js': plugin('own'),
      },
      ['@acme/guard', 'node_modules/@acme/guard/i.js'],
    ],
    [
      'by a subpath of its exports',
      {
        [`${at}/package.json`]: '{ "name": "guard", "exports": { "./rules/*": "./lib/*.mjs" } }',
        [`${at}/lib/strict.mjs`]: plugin('own'),
      },
      ['guard/rules/strict', `${at}/lib/strict.mjs`],
    ],
    [
      'by the path of a file in it if it has no exports',
      { [`${at}/package.json`]: '{ "name": "guard" }', [`${at}/lib/strict.mjs`]: plugin('own') },
      ['guard/lib/strict.mjs', `${at}/lib/strict.mjs`],
    ],
    [
      'if the configuration file lies in the package',
      { 'app/package.json': '{ "name": "guard", "exports": "./own.mjs" }', 'app/own.mjs': plugin('own') },
      ['guard', 'app/own.mjs'],
    ],
  ])('loads %s, under the name of the package', async (_title, files, [path, file]) => {
    const { loaded, failures } = await load(files, { path });

    expect(failures).toEqual([]);
    expect(loaded).toEqual([[path, file]]);
  });

  test('prefers a file or directory of that name next to the configuration file', async () => {
    const files = { 'app/guard/index.mjs': plugin('beside'), [`${at}/index.js`]: 'throw new Error("the package");' };

    expect(await load(files, { path: 'guard' })).toMatchObject({
      loaded: [['beside', 'app/guard/index.mjs']],
      failures: [],
    });
  });

  test.each<[title: string, files: Readonly<Record<string, string>>, found: readonly [path: string, problem: RegExp]]>([
    [
      'is not installed',
      {},
      [
        'guard',
        /^Plugin guard \(.*app\/guard\) is refused: the file does not exist, and no package "guard" is in .*Install/,
      ],
    ],
    ['is a relative path to a missing file', { [`${at}/index.js`]: '' }, ['./guard', /the file does not exist/]],
    [
      'leads out of the package',
      { [`${at}/index.js`]: '' },
      ['guard/../../../keelson-absent', /the file does not exist/],
    ],
    [
      'exports no module for `import`',
      { [`${at}/package.json`]: '{ "name": "guard", "exports": { "require": "./r.cjs" } }', [`${at}/r.cjs`]: '' },
      [
        'guard',
        /^Plugin guard \(.*\) is refused: the `exports` of its package.json have no module for `import` of "\."/,
      ],
    ],
    [
      'does not export the subpath',
      { [`${at}/package.json`]: '{ "name": "guard", "exports": "./r.js" }', [`${at}/r.js`]: '' },
      ['guard/r.js', /^Plugin guard\/r.js \(.*\) is refused: .* no module for `import` of "\.\/r\.js"/],
    ],
    [
      'is not built',
      { [`${at}/package.json`]: '{ "name": "guard", "exports": "./dist/r.js" }' },
      ['guard', /the file .*dist\/r\.js, which its package\.json .* does not exist\. Build/],
    ],
    [
      'has a broken package.json',
      { [`${at}/package.json`]: '{', [`${at}/index.js`]: '' },
      ['guard', /its package\.json cannot be read/],
    ],
    [
      'has no module',
      { [`${at}/package.json`]: '{ "name": "guard" }' },
      ['guard', /must have `exports`, a `main` that exists, or an index/],
    ],
    [
      'throws',
      { [`${at}/package.json`]: '{ "name": "guard" }', [`${at}/index.js`]: 'throw new Error("no key")' },
      ['guard', /^Plugin guard \(.*index\.js\) is refused: no key/],
    ],
  ])('that %s is refused, and the error says why', async (_title, files, [path, problem]) => {
    const { loaded, failures } = await load(files, { path });

    expect(loaded).toEqual([]);
    expect(failures).toEqual([expect.stringMatching(problem)]);
  });
});

describe('an entry that names a directory', () => {
  test.each<[title: string, files: Readonly<Record<string, string>>, expected: readonly string[]]>([
    [
      'by its package.json, under the name in there',
      { 'app/own/package.json': '{ "name": "@acme/own", "exports": "./a.mjs" }', 'app/own/a.mjs': plugin('a') },
      ['@acme/own', 'app/own/a.mjs'],
    ],
    ['by its index file', { 'app/own/index.mjs': plugin('a') }, ['a', 'app/own/index.mjs']],
  ])('loads its module %s', async (_title, files, expected) => {
    expect(await load(files, { path: './own' })).toMatchObject({ loaded: [expected], failures: [] });
  });

  test('with the package name of another plugin is refused', async () => {
    const manifest = '{ "name": "own" }';
    const folder = folderWith({
      ...{ 'a/package.json': manifest, 'a/index.mjs': plugin('a') },
      ...{ 'b/package.json': manifest, 'b/index.mjs': plugin('b') },
    });
    const config = [{ path: './a' }, { path: './b' }];
    const { agent, status } = agentOf({ config, workspaceDir: folder }, { script: script() });
    await agent.run('go');

    expect(status()).toMatchObject({
      plugins: [{ name: 'own' }],
      failures: [expect.stringContaining(`its name "own" is already used by ${folder}/a/index.mjs`)],
    });
  });
});

test('a failure of a package names the package in the log and in the text for the model', async () => {
  const folder = folderWith({
    'node_modules/guard/package.json': '{ "name": "guard" }',
    'node_modules/guard/index.mjs': `export default { name: 'index', hooks: {
      beforeToolExecute: () => null, afterResponse() { throw new Error('no disk'); } } };`,
    'node_modules/seen/package.json': '{ "name": "seen", "main": "src/index.mjs" }',
    'node_modules/seen/src/index.mjs': 'export const Seen = async () => ({ event() {} });',
  });
  const config = [{ path: 'guard' }, { path: 'seen' }];
  const { agent, model, status, log } = agentOf(
    { config, workspaceDir: folder },
    { script: [calls('work', {}), says('end')] },
  );
  await agent.run('go');

  expect(status().plugins.map(({ name }) => name)).toEqual(['guard', 'seen/Seen']);
  expect(lastResult(model)).toEqual([{ content: 'Tool "work" was blocked by plugin "guard".', isError: true }]);
  expect(log.map(({ message }) => message).join('\n')).toContain('"guard"');
  expect(log.map(({ message }) => message).join('\n')).not.toContain('"index"');
});

describe('a package that a workspace names', () => {
  function workspace(files: Readonly<Record<string, string>>) {
    const { key, notes } = noteBoard();
    const note = `globalThis.${key}.push(import.meta.url.split('/').at(-1));\n`;
    const folder = folderWith({
      'x.plugins.json': '[{ "path": "guard" }]',
      'node_modules/guard/package.json':
        '{ "name": "guard", "exports": "./a.mjs", "imports": { "#b": "./lib/b.mjs" } }',
      'node_modules/guard/a.mjs': `${note}import '#b'; import 'guard/package.json'; export default { name: 'a' };`,
      'node_modules/guard/lib/b.mjs': note,
      'node_modules/guard/node_modules/deep/index.js': '',
      ...files,
    });
    return { folder, notes, note };
  }

  function gateOf(workspaceDir: string, approve: (request: ApprovalRequest) => boolean) {
    const asked: ApprovalRequest[] = [];
    const gate = createTrustGate({
      ...{ workspaceDir, stateDir: folderWith(), logger: keptLog().logger },
      approve: (request: ApprovalRequest) => {
        asked.push(request);
        return approve(request);
      },
    });
    return { gate, asked };
  }

  async function find(workspaceDir: string, gate?: ReturnType<typeof createTrustGate>) {
    const found = agentOf({ appName: 'x', workspaceDir, env: {}, gate }, { script: script() });
    await found.agent.run('go');
    return found.status();
  }

  test('needs an approval of all code in the package, and a new approval after a change of any file', async () => {
    const { folder, notes } = workspace({
      'node_modules/guard/a.mjs': "import '#b'; export default { name: 'a' };",
    });
    const { gate, asked } = gateOf(folder, () => true);
    expect(await find(folder, gate)).toMatchObject({ plugins: [{ name: 'guard' }], failures: [] });
    expect(notes).toEqual(['b.mjs']);
    expect(asked[1]?.item.details).toMatchObject({ package: 'guard' });
    expect(asked[1]?.files.map(({ path }) => path)).toEqual([
      ...['node_modules/guard/a.mjs', 'node_modules/guard/lib/b.mjs', 'node_modules/guard/package.json'],
    ]);
    writeFileSync(join(folder, 'node_modules/guard/lib/b.mjs'), '// changed');
    await find(folder, gate);

    expect(asked.map(({ why }) => why)).toEqual(['new', 'new', 'changed']);
  });

  test('is not evaluated after a denial', async () => {
    const { folder, notes } = workspace({});
    const { gate } = gateOf(folder, ({ item }) => item.name === 'x.plugins.json');

    expect(await find(folder, gate)).toMatchObject({
      plugins: [],
      failures: [expect.stringContaining('node_modules/guard/a.mjs')],
    });
    expect(notes).toEqual([]);
  });

  test('needs a new approval if its package.json names another file', async () => {
    const { folder } = workspace({ 'node_modules/guard/a.mjs': plugin('a'), 'node_modules/guard/c.mjs': plugin('c') });
    const { gate, asked } = gateOf(folder, () => true);
    await find(folder, gate);
    writeFileSync(join(folder, 'node_modules/guard/package.json'), '{ "name": "guard", "exports": "./c.mjs" }');
    await find(folder, gate);

    expect(asked.map(({ item }) => item.name)).toEqual([
      ...['x.plugins.json', 'node_modules/guard/a.mjs', 'node_modules/guard/c.mjs'],
    ]);
  });

  test.each([
    ['in a parent directory of the workspace', (outer: string) => mkdirSync(join(outer, 'ws'), { recursive: true })],
    [
      'behind a symbolic link that leads out of the workspace',
      (outer: string) => {
        mkdirSync(join(outer, 'ws/node_modules'), { recursive: true });
        symlinkSync(join(outer, 'node_modules/guard'), join(outer, 'ws/node_modules/guard'));
      },
    ],
  ])('is refused if it lies %s', async (_title, prepare) => {
    const { folder: outer, notes } = workspace({});
    prepare(outer);
    const folder = join(outer, 'ws');
    writeFileSync(join(folder, 'x.plugins.json'), '[{ "path": "guard" }]');
    const { gate } = gateOf(folder, () => true);

    expect(await find(folder, gate)).toMatchObject({
      plugins: [],
      failures: [expect.stringMatching(/must not lead out of the workspace|which must lie inside/)],
    });
    expect(notes).toEqual([]);
  });

  test('needs an approval if a `config` value names it and a gate is set, and is trusted without a gate', async () => {
    const { folder, notes } = workspace({ 'node_modules/guard/a.mjs': `import '#b'; ${plugin('a')}` });
    const { gate, asked } = gateOf(folder, () => false);
    const config = [{ path: 'guard' }];
    const gated = agentOf({ config, workspaceDir: folder, gate }, { script: script() });
    await gated.agent.run('go');
    expect(gated.status().plugins).toEqual([]);
    expect(asked).toHaveLength(1);
    expect(notes).toEqual([]);
    const own = agentOf({ config, workspaceDir: folder }, { script: script() });
    await own.agent.run('go');

    expect(own.status().plugins).toMatchObject([{ name: 'guard' }]);
  });

  test('is approved with the code of its directory if a file in it imports a name such as `#b`', async () => {
    const { folder } = workspace({
      'x.plugins.json': '[{ "path": "./own/a.mjs" }]',
      'own/package.json': '{ "imports": { "#b": "./lib/b.mjs" } }',
      'own/a.mjs': `import '#b'; ${plugin('a')}`,
      'own/lib/b.mjs': '',
    });
    const { gate, asked } = gateOf(folder, () => true);
    await find(folder, gate);

    expect(asked[1]?.files.map(({ path }) => path)).toEqual(['own/a.mjs', 'own/lib/b.mjs', 'own/package.json']);
  });
});
