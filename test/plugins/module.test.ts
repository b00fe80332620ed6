import { says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, noteBoard } from '../support/plugins/plugin-folder.js';

const script = () => [says('end')];

/** Loads a module, and returns its plugins, failures and warnings. */
async function load(text: string, entry: object = {}) {
  const { agent, status, log } = agentWith(
    { 'm.mjs': text },
    { script: script(), options: { config: [{ path: 'm.mjs', ...entry }] } },
  );
  await agent.run('go');
  const { plugins, failures } = status();
  return { names: plugins.map(({ name }) => name), failures, warnings: log.filter(({ level }) => level === 'warn') };
}

describe('a default export that is a factory', () => {
  // covers: S3-2.2, S3-5.3
  test.each([
    ['alone', 'export default make;'],
    ['with a second name', 'export { make, make as default };'],
    ['next to other functions', 'export default make; export function other(o) { throw new Error(o); }'],
    ['next to a class', 'export default make; export class Other {}'],
    ['in a promise', 'export default Promise.resolve(make);'],
  ])('%s is called once, with its options', async (_title, exported) => {
    const { key, notes } = noteBoard();
    const text = `const make = (options) => { globalThis.${key}.push(options); return { name: 'made' }; };\n${exported}`;

    expect(await load(text, { options: { n: 1 } })).toEqual({ names: ['made'], failures: [], warnings: [] });
    expect(notes).toEqual([{ n: 1 }]);
  });

  test('gets a copy of its options, so its changes have no effect', async () => {
    const { key, notes } = noteBoard();
    const make = (name: string) =>
      `export default (options) => { globalThis.${key}.push({ ...options }); options.n += 1; return { name: '${name}' }; };`;
    const options = { n: 1 };
    const config = [
      { path: 'a.mjs', options },
      { path: 'b.mjs', options },
    ];
    const { agent } = agentWith({ 'a.mjs': make('a'), 'b.mjs': make('b') }, { script: script(), options: { config } });
    await agent.run('go');

    expect(notes).toEqual([{ n: 1 }, { n: 1 }]);
    expect(options).toEqual({ n: 1 });
  });

  test.each([
    ['returns undefined', '{}', '`name` must be a string'],
    ['throws and is not for opencode', "{ throw new Error('no key'); }", 'no key'],
  ])('that %s is refused', async (_title, body, problem) => {
    const { names, failures } = await load(`export default () => { ${body === '{}' ? 'return {};' : body} };`);

    expect(names).toEqual([]);
    expect(failures).toEqual([expect.stringContaining(problem)]);
  });
});

describe('a default export that is a class', () => {
  const body = `
    name = 'made';
    mark = '!';
    constructor(options) { this.options = options; }
    beforeMessage(message) { return message + this.mark + this.options?.n; }`;

  test.each([
    ['itself', `export default class Audit {${body}}`],
    ['as an expression', `export default class {${body}}`],
    ['as an instance', `class Audit {${body}} export default new Audit({ n: 1 });`],
    ['created by a factory', `class Audit {${body}} export default (options) => new Audit(options);`],
    ['that extends another class', `class Base {${body}} export default class extends Base {}`],
    [
      'with its hooks apart',
      `export default class { name = 'made'; constructor({ n }) { this.hooks = { beforeMessage: (m) => m + '!' + n }; } }`,
    ],
    [
      'that was compiled to a function',
      `function Audit(options) { this.name = 'made'; this.options = options; }
       Audit.prototype.beforeMessage = function (message) { return message + '!' + this.options.n; };
       export default Audit;`,
    ],
    ['whose source names an opencode hook', `// tool: 'tool.execute.before'\nexport default class {${body}}`],
  ])('%s is constructed with the options of its entry, and its methods are hooks', async (_title, text) => {
    const config = [{ path: 'm.mjs', options: { n: 1 } }];
    const { agent, model, status } = agentWith({ 'm.mjs': text }, { script: script(), options: { config } });
    await agent.run('go');

    expect(status()).toMatchObject({ plugins: [{ name: 'made' }], failures: [] });
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'go!1' }]);
  });

  test('may be a CommonJS module with tools', async () => {
    const text = `module.exports = class {
      name = 'made';
      tools = [{ name: 'work', description: '', inputSchema: {}, execute: () => ({ content: 'worked' }) }];
    };`;
    const { agent, status } = agentWith({ 'm.cjs': text }, { script: script() });
    await agent.run('go');

    expect(status()).toMatchObject({ plugins: [{ name: 'made' }], failures: [] });
    expect(agent.status().tools.map(({ name }) => name)).toEqual(['work']);
  });

  test.each([
    [
      'without a hook',
      "class Audit { name = 'a'; run() {} }",
      'the class "Audit" has no tools and no method that is a hook',
    ],
    [
      'with a misspelt hook',
      "class Audit { name = 'a'; beforToolExecute() {} }",
      'unknown member `beforToolExecute`; did you mean `beforeToolExecute`?',
    ],
    [
      'with a misspelt hook next to a known hook',
      "class Audit { name = 'a'; onInit() {} beforToolExecute() {} }",
      'unknown member `hooks.beforToolExecute`; did you mean `beforeToolExecute`?',
    ],
    ['without a name', 'class Audit { onInit() {} }', '`name` must be a string'],
    ['whose constructor throws', "class Audit { constructor() { throw new Error('no key'); } }", 'no key'],
    ['with hooks in two ways', "class Audit { name = 'a'; hooks = {}; onInit() {} }", '`onInit` must be in `hooks`'],
  ])('%s is refused', async (_title, text, problem) => {
    const { names, failures } = await load(`export default ${text}`);

    expect(names).toEqual([]);
    expect(failures).toEqual([expect.stringContaining(problem)]);
  });
});

describe('a default export whose module names an opencode hook', () => {
  test('is loaded as a plugin for opencode, and its factory runs once', async () => {
    const { key, notes } = noteBoard();
    const text = `export default async (context) => {
      globalThis.${key}.push(typeof context.directory);
      return globalThis.${key}.length > 1 ? {} : { 'chat.message': async () => {} };
    };`;

    expect(await load(text)).toEqual({ names: ['m/default'], failures: [], warnings: [] });
    expect(notes).toEqual(['string']);
  });

  test('is not loaded if its entry is disabled', async () => {
    const text = '/** @type {import("@opencode-ai/plugin").Plugin} */ export default async () => ({});';

    expect(await load(text)).toMatchObject({ names: ['m/default'], failures: [] });
  });

  test.each([
    ['', "return { name: 'made' };"],
    [' and needs its options', "if (options.n !== 1) throw new Error('no n'); return { name: 'made' };"],
  ])('is loaded as a Keelson plugin if its entry sets `format`%s', async (_title, body) => {
    const text = `// As 'tool.execute.before' there.\nexport default (options) => { ${body} };`;

    const entry = { options: { n: 1 }, format: 'plugin' };
    expect(await load(text, entry)).toEqual({ names: ['made'], failures: [], warnings: [] });
  });
});

describe('a published opencode module', () => {
  const hooks = "'tool.execute.before': async () => {}";

  test.each([
    ['with named functions', `export const Guard = async ({ client }) => ({ ${hooks} });`, ['m/Guard']],
    ['with only a default export', `export default async ({ client }) => ({ ${hooks} });`, ['m/default']],
    [
      'with a default that does not look at what it is given',
      `export default async () => ({ ${hooks} });`,
      ['m/default'],
    ],
    [
      'with a default export that also has a name',
      `export const A = async ({ $ }) => ({ ${hooks} }); export default A;`,
      ['m/A'],
    ],
    ['with a server and an id', `export default { id: 'guard', server: async () => ({ ${hooks} }) };`, ['m/guard']],
    [
      'with a server, beside functions that opencode does not call then',
      `export default { server: async () => ({ ${hooks} }) }; export const other = () => { throw new Error('called'); };`,
      ['m/server'],
    ],
    [
      'with several and constants',
      'export const B = () => ({}); export const n = 1; export const A = () => ({});',
      ['m/A', 'm/B'],
    ],
    ['with a named server', `export const A = { server: async () => ({ ${hooks} }) };`, ['m/A']],
    [
      'with a name and a version beside its hooks',
      `export const A = () => ({ name: 'a', version: 1, ${hooks} });`,
      ['m/A'],
    ],
    ['with hooks in a class instance', 'class Hooks { event() {} } export const A = async () => new Hooks();', ['m/A']],
    [
      'with hooks of a class that has members of its own',
      'class Hooks { seen = new Set(); event() { this.note(); } note() {} } export const A = async () => new Hooks();',
      ['m/A'],
    ],
    [
      'with the names of events as hooks',
      "export const A = async () => ({ 'session.idle': async () => {}, 'file.edited': async () => {} });",
      ['m/A'],
    ],
  ])('%s is loaded', async (_title, text, expected) => {
    const { names, failures } = await load(text);

    expect(failures).toEqual([]);
    expect(names.toSorted()).toEqual(expected);
  });

  test('may be compiled to CommonJS', async () => {
    // The form in which Node imports `exports.Guard = …`.
    const Guard = async () => ({});
    const compiled = Object.defineProperty({ Guard }, '__esModule', { value: true });
    const options = { importModule: async () => ({ Guard, __esModule: true, default: compiled }) };
    const { agent, status } = agentWith({ 'm.cjs': '' }, { script: script(), options });
    await agent.run('go');

    expect(status()).toMatchObject({ plugins: [{ name: 'm/Guard' }], failures: [] });
  });

  test('may export functions that are not plugins: a warning names the skipped functions', async () => {
    const text =
      'export const A = async () => ({}); export const isSecret = () => false; export const say = () => "x";';
    const { names, warnings } = await load(text);

    expect(names).toEqual(['m/A']);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /m\.mjs .* are skipped: .*"isSecret" must return hooks, got boolean.*"say" must return hooks, got string/,
      ),
    ]);
  });

  test.each([
    ['a misspelt guard', "export const A = async () => ({ 'tool.execute.befor': async () => {} });"],
    [
      'a misspelt guard next to a plugin',
      "export const A = () => ({ 'tool.execute.befor'() {} }); export const B = () => ({});",
    ],
    [
      'a misspelt guard in a class',
      "class Hooks { 'tool.execut.before'() {} event() {} } export const A = async () => new Hooks();",
    ],
    ['hooks of a Keelson plugin', 'export const A = async () => ({ name: "a", hooks: { onInit() {} } });'],
    ['only a name', 'export const A = async () => ({ name: "a" });'],
    [
      'a function that throws',
      "export const A = async () => ({}); export const B = () => { throw new Error('broken'); };",
    ],
    ['only functions that are not plugins', 'export const isSecret = () => false;'],
  ])('with %s is refused, with all its plugins', async (_title, text) => {
    const { names, failures } = await load(text);

    expect(names).toEqual([]);
    expect(failures).toHaveLength(1);
  });

  test('may have the same file name as another module', async () => {
    const text = 'export const Plugin = async () => ({});';
    const { agent, status } = agentWith({ 'one/main.mjs': text, 'two/main.mjs': text }, { script: script() });
    await agent.run('go');

    expect(status().failures).toEqual([]);
    expect(status().plugins.map(({ name }) => name)).toEqual(['main/Plugin', 'two/main/Plugin']);
  });

  test('may be called index like another module, or have a long name', async () => {
    const text = 'export const Plugin = async () => ({});';
    const long = 'x'.repeat(200);
    const { agent, status } = agentWith(
      { 'one/index.mjs': text, 'two/index.mjs': text, [`${long}.mjs`]: text },
      { script: script() },
    );
    await agent.run('go');

    expect(status().failures).toEqual([]);
    expect(status().plugins.map(({ name }) => name)).toEqual([
      'one/index/Plugin',
      'two/index/Plugin',
      `${long}/Plugin`.slice(-128),
    ]);
  });
});
