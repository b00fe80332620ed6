import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-no-code-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const urlOf = (file: string) => new URL(`../../dist/${file}`, import.meta.url).href;

/** Runs a program in a Node that forbids `eval`, as hardened hosts do. Returns its output. */
function output(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  const args = ['--disallow-code-generation-from-strings', name];
  return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
}

test('every entry point loads in a Node without `eval`', () => {
  const urls = readEntries().flatMap(({ name }) => [urlOf(`${name}.js`), urlOf(`${name}.cjs`)]);
  const text = `for (const url of ${JSON.stringify(urls)}) await import(url); console.log('loaded');`;

  expect(output('entries.mjs', text)).toBe('loaded\n');
});

test('a plugin loads in a Node without `eval`', () => {
  writeFileSync(join(folder, 'plugin.mjs'), "export default { name: 'a' };\n");
  const text = `
    import { loadPlugins, loadPluginConfig } from ${JSON.stringify(urlOf('plugins.js'))};
    const { plugins } = await loadPlugins(await loadPluginConfig({ config: [{ path: './plugin.mjs' }] }));
    console.log(plugins.map(({ plugin }) => plugin.name));`;

  expect(output('main.mjs', text)).toBe("[ 'a' ]\n");
});

test.each(['plugins.js', 'plugins.cjs'])(
  'a workspace plugin loads in a Node without `eval`, with its imports listed: %s',
  (file) => {
    writeFileSync(join(folder, 'keelson.plugins.mjs'), "import './part.mjs'; export default [];\n");
    writeFileSync(join(folder, 'part.mjs'), '');
    writeFileSync(join(folder, 'other.mjs'), '');
    const text = `
    import * as plugins from ${JSON.stringify(urlOf(file))};
    const gate = { authorize: async ({ files }) => (console.log(files.join()), { allowed: true }) };
    await plugins.loadPluginConfig({ gate, env: {}, importModule: (path) => import(path) });`;

    expect(output('found.mjs', text)).toBe('keelson.plugins.mjs,part.mjs\n');
  },
);

test('a plugin gets its arguments unchanged if Object.prototype is frozen', () => {
  const text = `
    import { createHookManager } from ${JSON.stringify(urlOf('plugins.js'))};
    Object.freeze(Object.prototype);
    const hooks = createHookManager();
    hooks.register({ name: 'a', hooks: { beforeToolExecute: (name, input) => ({ name, input }) } });
    console.log(JSON.stringify(await hooks.beforeToolExecute('t', JSON.parse('{"__proto__":1,"constructor":2}'))));`;

  expect(output('frozen.mjs', text)).toBe('{"name":"t","input":{"__proto__":1,"constructor":2}}\n');
});
