import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { says } from 'keelson/testing';
import { type ApprovalRequest, createTrustGate } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { pause } from '../support/agent/settle.js';
import { keptLog } from '../support/concepts/augmented-run.js';
import { agentOf, folderWith, noteBoard } from '../support/plugins/plugin-folder.js';

/**
 * Creates a workspace with a configuration, a plugin and a helper that the plugin imports. Each module records its
 * evaluation.
 */
function workspace(): { folder: string; notes: unknown[] } {
  const { key, notes } = noteBoard();
  const note = (name: string) => `globalThis.${key}.push('${name}');\n`;
  const folder = folderWith({
    'master-mind.plugins.mjs': `${note('config')}export default { plugins: [{ path: './plugins/a.mjs', options: { n: 1 } }] };`,
    'master-mind.plugins.json': '[]',
    'other.plugins.mjs': note('other'),
    'plugins/a.mjs': `import './helper.mjs';\n${note('a')}export default { name: 'a' };`,
    'plugins/helper.mjs': note('helper'),
  });
  return { folder, notes };
}

function gateOf(workspaceDir: string, approve?: (request: ApprovalRequest) => boolean) {
  const asked: ApprovalRequest[] = [];
  const gate = createTrustGate({
    workspaceDir,
    stateDir: folderWith(),
    logger: keptLog().logger,
    ...(approve && {
      approve: (request: ApprovalRequest) => {
        asked.push(request);
        return approve(request);
      },
    }),
  });
  return { gate, asked };
}

const found = (workspaceDir: string, gate?: ReturnType<typeof createTrustGate>) =>
  agentOf({ appName: 'master-mind', workspaceDir, env: {}, gate }, { script: [says('end')] });

describe('S3-5.5, G12: a configuration that was found in the workspace', () => {
  test.each([
    ['no gate is set', () => undefined],
    ['the gate has no approver', (folder: string) => gateOf(folder).gate],
    ['the approval is denied', (folder: string) => gateOf(folder, () => false).gate],
  ])('is not evaluated if %s', async (_title, gateFor) => {
    const { folder, notes } = workspace();
    const { agent, status, log } = found(folder, gateFor(folder));
    const { text } = await agent.run('go');

    expect(text).toBe('end');
    expect(notes).toEqual([]);
    expect(status()).toEqual({
      config: undefined,
      plugins: [],
      failures: [expect.stringContaining(join(folder, 'master-mind.plugins.mjs'))],
    });
    expect(log).toEqual([expect.objectContaining({ level: 'warn' })]);
  });

  test('is loaded after it and each plugin are approved, and a file with another name is ignored', async () => {
    const { folder, notes } = workspace();
    const { gate, asked } = gateOf(folder, () => true);
    const { agent, status } = found(folder, gate);
    await agent.run('go');

    expect(notes).toEqual(['config', 'helper', 'a']);
    expect(status().plugins).toMatchObject([{ name: 'a' }]);
    expect(asked.map(({ item, files }) => [item.kind, item.name, files.map(({ path }) => path)])).toEqual([
      ['plugin', 'master-mind.plugins.mjs', ['master-mind.plugins.mjs']],
      ['plugin', 'plugins/a.mjs', ['plugins/a.mjs', 'plugins/helper.mjs']],
    ]);
    expect(asked[1]?.item.details).toMatchObject({ options: { n: 1 } });
  });

  test('does not import a denied plugin', async () => {
    const { folder, notes } = workspace();
    const { gate } = gateOf(folder, ({ item }) => item.name === 'master-mind.plugins.mjs');
    const { agent, status } = found(folder, gate);
    await agent.run('go');

    expect(notes).toEqual(['config']);
    expect(status().plugins).toEqual([]);
    expect(status().failures).toEqual([expect.stringContaining('plugins/a.mjs')]);
  });

  test.each(['plugins/a.mjs', 'plugins/helper.mjs'])('needs a new approval if %s has changed', async (file) => {
    const { folder } = workspace();
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');
    await found(folder, gate).agent.run('go');
    expect(asked).toHaveLength(2);
    writeFileSync(join(folder, file), '// changed\n');
    await found(folder, gate).agent.run('go');

    expect(asked.map(({ why }) => why)).toEqual(['new', 'new', 'changed']);
  });

  test.each([
    "import/* all of it */'./helper.mjs'",
    "import './help%65r.mjs'",
    "import(/* now */ './helper.mjs')",
    "import(// now\n './helper.mjs')",
    'import(`./helper.mjs`)',
    "import './helper.js'",
    "import '\\x2e/h\\u0065lper\\u{2e}mjs'",
    "import './he\\tl\\np\\u{00000065}r.mjs '",
    "import './lib\\\\..\\\\helper.mjs'",
    "export * from './helper.mjs'; // They require that.",
    "\uFEFFimport './helper.mjs'",
    "new Worker(new URL('./helper.mjs?x=1', import.meta.url))",
  ])('needs an approval of the plugin with its import, written as %s', async (text) => {
    const { folder } = workspace();
    writeFileSync(join(folder, 'plugins/a.mjs'), text);
    writeFileSync(join(folder, 'plugins/helper.ts'), '');
    writeFileSync(join(folder, 'plugins/other.mjs'), '');
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    expect(asked[1]?.files.map(({ path }) => path)).toHaveLength(2);
    expect(asked[1]?.files.map(({ path }) => path)).not.toContain('plugins/other.mjs');
  });

  test.each([
    "const load = createRequire(import.meta.url); load('./helper.mjs')",
    "const load = require\nload('./helper.mjs')",
    "const load = require as unknown as Load; load('./helper.mjs')",
    "require('\\56/\\150elper.mjs')",
    "const rules = ['./helper.mjs']; for (const rule of rules) await import(rule)",
    `await import('./' + name + '.mjs')`,
    "export default () => <div>it's</div>; import('./helper.mjs')",
  ])('needs an approval of all code in the plugin directory if the imports cannot be determined: %s', async (text) => {
    const { folder } = workspace();
    const others = ['lib/deep.cjs', 'part.wasm', 'notes.json', 'log.txt', 'node_modules/x/index.js'];
    for (const name of ['lib', 'node_modules/x']) mkdirSync(join(folder, 'plugins', name), { recursive: true });
    for (const name of others) writeFileSync(join(folder, 'plugins', name), '');
    writeFileSync(join(folder, 'plugins/a.mjs'), text);
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    const expected = ['a.mjs', 'helper.mjs', 'lib/deep.cjs', 'part.wasm'].map((name) => `plugins/${name}`);
    expect(asked[1]?.files.map(({ path }) => path)).toEqual(expected);
    // The plugin may write its own log and data files.
    for (const name of ['notes.json', 'log.txt']) writeFileSync(join(folder, 'plugins', name), 'more');
    await found(folder, gate).agent.run('go');
    expect(asked).toHaveLength(2);
    writeFileSync(join(folder, 'plugins/lib/new.js'), '');
    await found(folder, gate).agent.run('go');
    expect(asked.map(({ why }) => why)).toEqual(['new', 'new', 'changed']);
  });

  test('needs an approval of the package.json and all code in its package', async () => {
    const { folder } = workspace();
    for (const [name, text] of [
      ['plugins/package.json', '{}'],
      ['plugins/src/a.cjs', "module.exports = require('../' + 'lib/b.cjs');"],
      ['plugins/lib/b.cjs', "import('../../shared/c.mjs');"],
      ['shared/c.mjs', ''],
    ] as const) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    writeFileSync(join(folder, 'master-mind.plugins.mjs'), "export default [{ path: 'plugins/src/a.cjs' }];");
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    expect(asked[1]?.files.map(({ path }) => path)).toEqual([
      ...['plugins/a.mjs', 'plugins/helper.mjs', 'plugins/lib/b.cjs', 'plugins/package.json', 'plugins/src/a.cjs'],
      'shared/c.mjs',
    ]);
  });

  test('needs `files` for a plugin with unknown imports directly in the workspace', async () => {
    const { folder } = workspace();
    const config = (files?: readonly string[]) =>
      writeFileSync(join(folder, 'master-mind.plugins.json'), JSON.stringify([{ path: 'a.cjs', files }]));
    rmSync(join(folder, 'master-mind.plugins.mjs'));
    writeFileSync(join(folder, 'package.json'), '{}');
    writeFileSync(join(folder, 'a.cjs'), "exports.default = { name: 'a' }; require('./plugins/' + 'helper.mjs');");
    const { gate, asked } = gateOf(folder, () => true);
    const load = async () => {
      const { agent, status } = found(folder, gate);
      await agent.run('go');
      return status().failures;
    };

    config();
    expect(await load()).toEqual([
      expect.stringMatching(/not loaded: the imports of .*a\.cjs cannot all be determined.*`files`/),
    ]);
    config(['.']);
    expect(await load()).toEqual([expect.stringContaining('its `files` must not name the whole workspace')]);
    config(['none.js']);
    expect(await load()).toEqual([expect.stringContaining('none.js, which does not exist')]);
    expect(asked.filter(({ item }) => item.name === 'a.cjs')).toEqual([]);
    config(['plugins']);
    await load();
    expect(asked.at(-1)?.files.map(({ path }) => path)).toEqual(['a.cjs', 'plugins/a.mjs', 'plugins/helper.mjs']);
  });

  test('needs an approval of each file that an import without an extension may resolve to', async () => {
    const { folder } = workspace();
    writeFileSync(join(folder, 'plugins/a.mjs'), "import './helper';");
    writeFileSync(join(folder, 'plugins/helper.ts'), '');
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    expect(asked[1]?.files.map(({ path }) => path)).toEqual([
      'plugins/a.mjs',
      'plugins/helper.mjs',
      'plugins/helper.ts',
    ]);
  });

  test.each([
    ['a module', 'export default { name: "a" };'],
    ['a module that the lexer cannot read', "export default () => <div>it's</div>;"],
  ])('needs an approval of the files named by a URL, code and data: %s', async (_title, rest) => {
    const { folder } = workspace();
    writeFileSync(
      join(folder, 'plugins/a.mjs'),
      `new Worker(new URL('./helper.mjs?x=1', import.meta.url)); readFileSync(new URL("rules/deny.txt", import.meta.url));
       readFileSync(new URL('./notes.json', import.meta.url)); new URL('https://a.example/other.txt', import.meta.url);
       new URL('rules/', import.meta.url);\n${rest}`,
    );
    mkdirSync(join(folder, 'plugins/rules'));
    for (const name of ['rules/deny.txt', 'rules/index.js', 'notes.json', 'other.txt']) {
      writeFileSync(join(folder, 'plugins', name), '');
    }
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    const named = asked[1]?.files.map(({ path }) => path).filter((path) => path !== 'plugins/rules/index.js');
    expect(named).toEqual(['plugins/a.mjs', 'plugins/helper.mjs', 'plugins/notes.json', 'plugins/rules/deny.txt']);
  });

  test('needs an approval of an imported data file', async () => {
    const { folder } = workspace();
    writeFileSync(join(folder, 'plugins/a.mjs'), "import data from './data.json' with { type: 'json' };");
    writeFileSync(join(folder, 'plugins/data.json'), '{}');
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    expect(asked[1]?.files.map(({ path }) => path)).toEqual(['plugins/a.mjs', 'plugins/data.json']);
  });

  test.each([
    ['its `main`', '{"main":"lib/one"}', ['lib/one.cjs', 'lib/two.cjs', 'package.json']],
    ['an index file, without `main`', '{}', ['index.js', 'package.json']],
    ['an index file, with an invalid package.json', '{', ['index.js', 'package.json']],
  ])('needs an approval of an imported directory: %s', async (_title, manifest, expected) => {
    const { folder } = workspace();
    const files = { 'package.json': manifest, 'lib/one.cjs': "import('./two.cjs')", 'lib/two.cjs': '' };
    mkdirSync(join(folder, 'plugins/part/lib'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'plugins/part', name), text);
    if (expected[0] === 'index.js') writeFileSync(join(folder, 'plugins/part/index.js'), '');
    writeFileSync(join(folder, 'plugins/a.mjs'), "import './part';");
    const { gate, asked } = gateOf(folder, () => true);
    await found(folder, gate).agent.run('go');

    expect(asked[1]?.files.map(({ path }) => path)).toEqual([
      'plugins/a.mjs',
      ...expected.map((name) => `plugins/part/${name}`),
    ]);
  });

  test('may list parent directories and directories outside the workspace in `files`', async () => {
    const outer = folderWith({ 'index.js': '', 'ws/index.js': '' });
    const folder = join(outer, 'ws');
    writeFileSync(
      join(folder, 'master-mind.plugins.mjs'),
      `new URL('..', import.meta.url); new URL('./', import.meta.url); export default [];`,
    );
    const { gate, asked } = gateOf(folder, () => true);
    const { agent, status } = found(folder, gate);
    await agent.run('go');

    expect(status().failures).toEqual([]);
    expect(asked[0]?.files.map(({ path }) => path)).toEqual(['master-mind.plugins.mjs']);
  });

  test.each([
    ['more than 10000 imports', () => Array.from({ length: 10_001 }, (_, at) => `import './${at}';`).join('\n')],
    ['bytes', () => ' '.repeat(17 * 1024 * 1024)],
  ])('is refused if it exceeds a limit of the import search: %s', async (problem, textOf) => {
    const { folder } = workspace();
    writeFileSync(join(folder, 'plugins/a.mjs'), textOf());
    const { agent, status } = found(folder, gateOf(folder, () => true).gate);
    await agent.run('go');

    expect(status()).toMatchObject({ plugins: [], failures: [expect.stringContaining(problem)] });
  });

  test('needs an approval of the target of a symbolic link and its imports, in a workspace that is a symbolic link', async () => {
    const { folder } = workspace();
    const linked = join(folderWith(), 'linked');
    symlinkSync(folder, linked);
    mkdirSync(join(folder, 'shared'));
    writeFileSync(join(folder, 'shared/a.mjs'), "import './part.mjs'; export default { name: 'a' };");
    writeFileSync(join(folder, 'shared/part.mjs'), '');
    rmSync(join(folder, 'plugins/a.mjs'));
    symlinkSync('../shared/a.mjs', join(folder, 'plugins/a.mjs'));
    const { gate, asked } = gateOf(linked, () => true);
    await found(linked, gate).agent.run('go');

    expect(asked[1]?.files.map(({ path }) => path)).toEqual(['shared/a.mjs', 'shared/part.mjs']);
  });

  test('cannot name a plugin outside the workspace', async () => {
    const { folder } = workspace();
    const outside = folderWith({ 'x.mjs': "export default { name: 'x' };" });
    writeFileSync(join(folder, 'master-mind.plugins.mjs'), `export default [{ path: '${outside}/x.mjs' }];`);
    const { agent, status } = found(folder, gateOf(folder, () => true).gate);
    await agent.run('go');

    expect(status()).toMatchObject({
      plugins: [],
      failures: [expect.stringContaining('must not lead out of the workspace')],
    });
  });
});

test('S3-5.5: the TypeScript file is preferred, and files with other names are ignored', async () => {
  const folder = folderWith({
    'master-mind.plugins.ts': 'interface None {}\nexport default [] as readonly None[];\n',
    'master-mind.plugins.json': '{',
    'keelson.plugins.ts': "throw new Error('another name');",
  });
  const gate = { authorize: async () => ({ allowed: true }) };
  const { agent, status } = agentOf(
    { appName: 'master-mind', workspaceDir: folder, env: {}, gate },
    { script: [says('end')] },
  );
  await agent.run('go');

  expect(status()).toEqual({ config: join(folder, 'master-mind.plugins.ts'), plugins: [], failures: [] });
});

test('an approval prompt is not bound by the time limit of loading', async () => {
  const { folder, notes } = workspace();
  const gate = {
    async authorize() {
      await pause(1_100);
      return { allowed: true };
    },
  };
  const { agent, status } = agentOf(
    { appName: 'master-mind', workspaceDir: folder, env: {}, gate, timeoutMs: 1_000 },
    { script: [says('end')] },
  );
  await agent.run('go');

  expect(notes).toEqual(['config', 'helper', 'a']);
  expect(status().failures).toEqual([]);
});

test.each([[undefined], [{}], [{ allowed: 'yes' }], [{ allowed: false, message: 'not today' }]])(
  'a gate that says %j has not said yes',
  async (answer) => {
    const { folder, notes } = workspace();
    const { agent } = agentOf(
      { appName: 'master-mind', workspaceDir: folder, env: {}, gate: { authorize: async () => answer as never } },
      { script: [says('end')] },
    );
    await agent.run('go');

    expect(notes).toEqual([]);
  },
);

test('a file that the host names is trusted, even in the workspace', async () => {
  const { folder, notes } = workspace();
  const { agent, status } = agentOf(
    { config: 'master-mind.plugins.mjs', workspaceDir: folder },
    { script: [says('end')] },
  );
  await agent.run('go');

  expect(notes).toEqual(['config', 'helper', 'a']);
  expect(status().plugins).toMatchObject([{ name: 'a' }]);
});
