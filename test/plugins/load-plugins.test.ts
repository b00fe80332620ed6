import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadPluginConfig, loadPlugins, type PluginEntry, plugins } from 'keelson/plugins';
import { says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { keptLog } from '../support/concepts/augmented-run.js';
import { agentOf, agentWith, folderWith, moduleOf, noteBoard } from '../support/plugins/plugin-folder.js';

/** Loads the modules of a directory, in the order of `files`. */
async function loadAll(files: Readonly<Record<string, string>>, change: Partial<PluginEntry> = {}) {
  const folder = folderWith(files);
  const config = Object.keys(files).map((name) => ({ path: name, ...change }));
  const loaded = await loadPluginConfig({ config, workspaceDir: folder });
  if (loaded === undefined) throw new Error('No configuration was found.');
  const { plugins: found, failures } = await loadPlugins(loaded, { logger: keptLog().logger, timeoutMs: 2_000 });
  return {
    folder,
    names: found.map(({ plugin }) => plugin.name),
    found,
    failures: failures.map(({ message }) => message),
  };
}

describe('G8: the export of a plugin module', () => {
  // covers: S3-2.1, S3-2.2, S3-2.4, S3-7.3
  test.each([
    ['a plugin', "export default { name: 'a', version: '1.2.3', description: 'A.' };", 'm.mjs'],
    ['a factory', "export default () => ({ name: 'a', version: '1.2.3', description: 'A.' });", 'm.mjs'],
    [
      'an asynchronous factory',
      "export default async () => ({ name: 'a', version: '1.2.3', description: 'A.' });",
      'm.js',
    ],
    ['a plugin, as CommonJS', "module.exports = { name: 'a', version: '1.2.3', description: 'A.' };", 'm.cjs'],
    [
      'a plugin, compiled to CommonJS',
      "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = { name: 'a', version: '1.2.3', description: 'A.' };",
      'm.cjs',
    ],
  ])('may be %s', async (_title, text, file) => {
    const { found } = await loadAll({ 'package.json': '{"type":"module"}', [file]: text }, {});

    expect(found.map(({ plugin }) => plugin)).toEqual([
      expect.objectContaining({ name: 'a', version: '1.2.3', description: 'A.' }),
    ]);
  });

  // covers: S3-2.3
  test.each([
    ['nothing', 'export const x = 1;', 'it has no default export'],
    ['a number', 'export default 42;', 'got 42'],
    ['null', 'export default null;', 'null'],
    ['an array', 'export default [];', 'an array'],
    ['an object without a name', 'export default {};', '`name`'],
    ['a plugin with an empty name', "export default { name: '' };", '`name`'],
    ['a plugin with a number as name', 'export default { name: 7 };', '`name`'],
    [
      'a plugin with a misspelt hook',
      "export default { name: 'a', hooks: { beforToolExecute() {} } };",
      '`hooks.beforToolExecute`',
    ],
    ['a factory that throws', "export default () => { throw new Error('no key'); };", 'no key'],
    ['a factory whose promise rejects', "export default () => Promise.reject(new Error('no key'));", 'no key'],
    ['a factory that throws undefined', 'export default () => { throw undefined; };', 'refused'],
    ['a factory that returns undefined', 'export default () => {};', 'undefined'],
    ['a factory that hangs', 'export default () => new Promise(() => {});', 'took longer than 2000 ms'],
    ['missing because of a syntax error', 'export default {', 'refused'],
    ['missing because the module throws', "throw new Error('at once');", 'at once'],
    [
      'missing because an import does not exist',
      "import './nothing.mjs'; export default { name: 'a' };",
      'nothing.mjs',
    ],
    [
      'a tool without a schema',
      "export default { name: 'a', tools: [{ name: 't', description: '', execute() {} }] };",
      '"t"',
    ],
    [
      'a tool that does nothing',
      "export default { name: 'a', tools: [{ name: 't', description: '', inputSchema: {} }] };",
      '`execute` must be a function, got undefined',
    ],
    [
      'a tool with a bad name',
      "export default { name: 'a', tools: [{ name: 'a b', description: '', inputSchema: {}, execute() {} }] };",
      'a b',
    ],
    [
      'a function that is not a plugin for opencode',
      "export function make() { return { name: 'a' }; }",
      'no default export',
    ],
  ])('is refused if it is %s: the error names the file, and the other plugins load', async (_title, text, problem) => {
    const good = "export default { name: 'good' };";
    const { names, failures, folder } = await loadAll({ 'bad.mjs': text, 'good.mjs': good });

    expect(names).toEqual(['good']);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain(join(folder, 'bad.mjs'));
    expect(failures[0]).toContain(problem);
  });
});

describe('entries', () => {
  test('S3-5.3: the factory gets the options of its entry', async () => {
    const { key, notes } = noteBoard();
    const text = `export default (options) => { globalThis.${key}.push(options); return { name: 'a' }; };`;
    await loadAll({ 'a.mjs': text }, { options: { namespace: 'prod' } });
    await loadAll({ 'a.mjs': text });

    expect(notes).toEqual([{ namespace: 'prod' }, undefined]);
  });

  test('S3-5.4, G9: the module of a disabled entry is not imported', async () => {
    const { key, notes } = noteBoard();
    const { names, failures } = await loadAll(
      { 'a.mjs': `globalThis.${key}.push('imported'); export default { name: 'a' };` },
      { enabled: false },
    );

    expect([names, failures, notes]).toEqual([[], [], []]);
  });

  test.each([
    [{}, '`path`'],
    [{ path: 7 }, '`path`'],
    [{ path: 'a.mjs', enable: false }, '`enable`'],
    [{ path: 'a.mjs', enabled: 'false' }, '`enabled`'],
    [{ path: 'a.mjs', options: 'x' }, '`options`'],
    [{ path: 'a.mjs', format: 'esm' }, '`format`'],
    [{ path: 'none.mjs' }, 'the file does not exist'],
    [{ path: '.' }, 'the directory must have `exports`'],
    [{ path: 'file:///a%2Fb.mjs' }, 'must not include encoded'],
    [{ path: 'a.mjs', required: 'yes' }, '`required`'],
    [{ path: 'file://host:x/a.mjs' }, 'the file does not exist'],
    [{ path: 'a\0.mjs' }, 'the file does not exist'],
    [null, 'must be an object'],
  ])('the invalid entry %j is refused, and the other plugins load', async (entry, problem) => {
    const folder = folderWith({ 'a.mjs': "export default { name: 'a' };", 'b.mjs': "export default { name: 'b' };" });
    const loaded = await loadPluginConfig({ config: [entry as never, { path: 'b.mjs' }], workspaceDir: folder });
    const { plugins: found, failures } = await loadPlugins(loaded as never, { logger: keptLog().logger });

    expect(found.map(({ plugin }) => plugin.name)).toEqual(['b']);
    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining(problem)]);
  });

  // covers: S3-5.2
  test('S3-D3: paths are relative to the configuration file, not to the working directory', async () => {
    const folder = folderWith({
      'deep/app.plugins.json': '{"plugins":[{"path":"./plugins/a.mjs"},{"path":"plugins/b.mjs"}]}',
      'deep/plugins/a.mjs': "export default { name: 'a' };",
      'deep/plugins/b.mjs': "export default { name: 'b' };",
    });
    const loaded = await loadPluginConfig({ config: 'deep/app.plugins.json', workspaceDir: folder });
    const { plugins: found } = await loadPlugins(loaded as never);

    expect(found.map(({ path }) => path)).toEqual([
      join(folder, 'deep/plugins/a.mjs'),
      join(folder, 'deep/plugins/b.mjs'),
    ]);
  });
});

describe('S3-D4: names', () => {
  const toolOfPlugin = (plugin: string, tool: string) =>
    `export default { name: '${plugin}', tools: [{ name: '${tool}', description: '', inputSchema: {}, execute: () => ({ content: '${plugin}' }) }] };`;

  test('G10: the second of two plugins with one name is refused, and the error names both files', async () => {
    const { names, found, failures, folder } = await loadAll({
      'a.mjs': toolOfPlugin('twin', 'one'),
      'b.mjs': toolOfPlugin('twin', 'two'),
      'c.mjs': toolOfPlugin('other', 'two'),
    });

    expect(names).toEqual(['twin', 'other']);
    expect(found.flatMap(({ plugin }) => plugin.tools?.map(({ name }) => name))).toEqual(['one', 'two']);
    expect(failures[0]).toContain(join(folder, 'a.mjs'));
    expect(failures[0]).toContain(join(folder, 'b.mjs'));
  });

  test('the second of two plugins with one tool name is refused, and the error names both plugins', async () => {
    const { names, failures } = await loadAll({
      'a.mjs': toolOfPlugin('a', 'same'),
      'b.mjs': toolOfPlugin('b', 'same'),
    });

    expect(names).toEqual(['a']);
    expect(failures[0]).toMatch(/b\.mjs.*"same".*"b".*used by a .*a\.mjs/);
  });

  test('G11: a tool name of the agent is refused, unless the entry sets `replace`', async () => {
    const files = { 'a.mjs': toolOfPlugin('a', 'work') };
    const script = () => [says('end')];
    const tools = [toolOf('work', () => 'built in')];
    const refused = agentWith(files, { script: script(), tools });
    await refused.agent.run('go');
    const replaced = agentWith(files, { tools, options: { config: [{ path: 'a.mjs', replace: true }] } });
    const { messages } = await replaced.agent.run('go');

    expect(refused.status().plugins).toEqual([]);
    expect(refused.status().failures).toEqual([expect.stringMatching(/already used by the agent\. Rename the tool$/)]);
    expect(JSON.stringify(messages)).toContain('"content":"a"');
    expect(replaced.agent.status().tools.map(({ name }) => name)).toEqual(['work']);
  });
});

describe('configurations', () => {
  // covers: S3-5.1
  test.each([
    ['app.plugins.mjs', "export default { plugins: [{ path: './a.mjs' }] };"],
    ['app.plugins.js', "export default { plugins: [{ path: './a.mjs' }] };"],
    ['app.plugins.mjs', "export default [{ path: './a.mjs' }];"],
    ['app.plugins.json', '\uFEFF{ "plugins": [{ "path": "./a.mjs" }] }'],
    ['app.plugins.json', '[{ "path": "./a.mjs" }]'],
  ])('%s may contain %s', async (file, text) => {
    const folder = folderWith({ [file]: text, 'package.json': '{"type":"module"}' });
    const loaded = await loadPluginConfig({ config: file, workspaceDir: folder });

    expect(loaded).toEqual({
      config: { plugins: [{ path: './a.mjs' }] },
      path: join(folder, file),
      folder,
      isTrusted: true,
    });
  });

  test.each([
    ['none.json', undefined, 'no such file'],
    ['a.json', '{', 'JSON'],
    ['a.json', '{}', 'must be { plugins'],
    ['a.json', 'null', 'must be { plugins'],
    ['a.mjs', 'export default { plugins: {} };', 'must be { plugins'],
    ['a.mjs', 'export const plugins = [];', 'must be { plugins'],
    ['a.mjs', "throw new Error('broken');", 'broken'],
  ])('%s with %j fails the loader, and the error names the file', async (file, text, problem) => {
    const folder = folderWith(text === undefined ? {} : { [file]: text });
    const { agent } = agentOf({ config: file, workspaceDir: folder });
    const optional = agentOf({ config: file, workspaceDir: folder, optional: true }, { script: [says('end')] });

    await expect(agent.run('go')).rejects.toMatchObject({
      code: 'ERR_LOADER_FAILED',
      cause: { code: 'ERR_PLUGIN_CONFIG', message: expect.stringContaining(join(folder, file)) },
    });
    await expect(agent.run('go')).rejects.toMatchObject({ message: expect.stringContaining(problem) });
    expect((await optional.agent.run('go')).text).toBe('end');
  });

  // covers: S3-7.5
  test('S3-5.6: an environment variable names the file, entries are relative to it, and `config` overrides it', async () => {
    const folder = folderWith({
      'master-mind.plugins.json': '[{"path":"./default.mjs"}]',
      'other/mine.json': '[{"path":"./mine.mjs"}]',
      'other/mine.mjs': "export default { name: 'mine' };",
      'option.json': '[]',
    });
    const options = {
      appName: 'master-mind',
      workspaceDir: folder,
      env: { MASTER_MIND_PLUGIN_CONFIG: 'other/mine.json' },
    };
    const { agent, status } = agentOf(options, { script: [says('end')] });
    await agent.run('go');

    expect(status()).toMatchObject({
      config: join(folder, 'other/mine.json'),
      plugins: [{ name: 'mine' }],
      failures: [],
    });
    for (const config of ['option.json', pathToFileURL(join(folder, 'option.json')).href]) {
      expect((await loadPluginConfig({ ...options, config }))?.path).toBe(join(folder, 'option.json'));
    }
  });

  test('without a configuration no plugins load', async () => {
    const { agent, status, log } = agentOf({ workspaceDir: folderWith(), env: {} }, { script: [says('end')] });
    await agent.run('go');

    expect(status()).toEqual({ config: undefined, plugins: [], failures: [] });
    expect(log).toEqual([]);
  });

  test('S3-D5: a change of a module after it was loaded has no effect', async () => {
    const { agent, model, folder } = agentWith(
      { 'a.mjs': "export default { name: 'a', hooks: { beforeMessage: (m) => m + ' one' } };" },
      { script: [says('x'), says('y')] },
    );
    await agent.run('go');
    writeFileSync(join(folder, 'a.mjs'), "export default { name: 'a', hooks: { beforeMessage: (m) => m + ' two' } };");
    await agent.run('go');

    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual(['go one', 'go one']);
  });
});

test('a plugin whose `onInit` fails is refused with its tools and hooks', async () => {
  const bad = {
    name: 'bad',
    tools: [{ name: 'bad_tool', description: '', inputSchema: {}, execute: () => ({ content: '' }) }],
    hooks: {
      onInit: () => Promise.reject(new Error('no port')),
      beforeMessage: () => 'changed',
      onShutdown: () => {
        throw new Error('never initialized');
      },
    },
  };
  const { agent, model, status, log } = agentWith(
    { 'bad.mjs': moduleOf(bad), 'good.mjs': "export default { name: 'good' };" },
    { script: [says('end')] },
  );
  await agent.run('go');
  await agent.close();

  expect(model.requests[0]).toMatchObject({ messages: [{ content: 'go' }], tools: [] });
  expect(status().plugins.map(({ name }) => name)).toEqual(['good']);
  expect(status().failures).toEqual([expect.stringMatching(/bad\.mjs.*no port/)]);
  expect(log.filter(({ level }) => level === 'error')).toHaveLength(1);
});

test('`importModule` imports the modules', async () => {
  const folder = folderWith({ 'a.strange': '' });
  const asked: string[] = [];
  const { agent, status } = agentOf(
    {
      config: [{ path: 'a.strange' }],
      workspaceDir: folder,
      async importModule(path) {
        asked.push(path);
        return { default: { name: 'a' } };
      },
    },
    { script: [says('end')] },
  );
  await agent.run('go');

  expect(asked).toEqual([join(folder, 'a.strange')]);
  expect(status().plugins).toMatchObject([{ name: 'a', path: asked[0] }]);
});

test('refuses unknown options and invalid values', async () => {
  expect(() => plugins({ pluginConfig: 'x' } as never)).toThrow(
    expect.objectContaining({ code: 'ERR_OPTION_INVALID' }),
  );
  expect(() => plugins({ timeoutMs: -1 })).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }));
  for (const appName of ['../x', 'x/../y']) {
    await expect(loadPluginConfig({ appName })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
  }
});
