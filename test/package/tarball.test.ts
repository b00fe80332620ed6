import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';
import { createPackedProject } from '../../scripts/packed-project.mjs';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const specifiers = readEntries().map(({ specifier }) => specifier);
const withoutPeers = specifiers.filter((name) => !['keelson/openai', 'keelson/otel'].includes(name));
const { peerDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const peers = Object.keys(peerDependencies);
let project = '';

beforeAll(() => {
  project = createPackedProject(inject('tarball'));
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

function node(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
}

/** Links a package of this repository into the project, as if the project had installed it. */
function link(name: string): void {
  const path = join(project, 'node_modules', name);
  mkdirSync(join(path, '..'), { recursive: true });
  if (!existsSync(path)) symlinkSync(join(modules, name), path);
}

test('the tarball holds the build, the docs, the examples, and the few files beside them', () => {
  const files = readdirSync(join(project, 'node_modules/keelson')).sort();

  const pages = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'];
  expect(files).toEqual([...pages, 'bench', 'dist', 'docs', 'examples', 'llms.txt', 'package.json', 'skills']);
});

test('the tarball holds the sources of the web page, without its packages and its build', () => {
  const files = readdirSync(join(project, 'node_modules/keelson/examples/web')).sort();

  expect(files).toEqual([
    'README.md',
    'browser.mjs',
    'chats.test.mjs',
    'chromium.mjs',
    'coming-back.test.mjs',
    'compaction.test.mjs',
    'content.test.mjs',
    'editing.test.mjs',
    'index.html',
    'look.test.mjs',
    'nested.test.mjs',
    'package-lock.json',
    'package.json',
    'page',
    'page.test.mjs',
    'screenshots',
    'script.ts',
    'server.ts',
    'typing.test.mjs',
    'vite.config.mjs',
  ]);
});

test('installing the tarball installs the package and its eight dependencies', () => {
  const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));

  expect(installed.sort()).toEqual([
    '@cfworker',
    'es-module-lexer',
    'eventemitter3',
    'keelson',
    'minisearch',
    'p-timeout',
    're2js',
    'yaml',
    'zod',
  ]);
});

/** Loads each entry point in its own thread, with import and with require. Prints the names that each exports. */
const load = `
const { Worker } = require('node:worker_threads');
const { once } = require('node:events');
const code = \`
const { parentPort, workerData } = require('node:worker_threads');
const namesOf = (entry) => Object.keys(entry).sort().join();
import(workerData).then((imported) => parentPort.postMessage([namesOf(imported), namesOf(require(workerData))]));
\`;
(async () => {
  for (const workerData of process.argv.slice(1)) {
    const [names] = await once(new Worker(code, { eval: true, workerData }), 'message');
    console.log(JSON.stringify([workerData, ...names]));
  }
})();
`;

function exportsOf(names: readonly string[]): { name: string; imported: string; required: string }[] {
  const lines = node('-e', load, ...names)
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line)).map(([name, imported, required]) => ({ name, imported, required }));
}

test('every entry point exports the same names to import and require, without any optional package', () => {
  const found = exportsOf(withoutPeers);

  expect(found.map(({ name }) => name)).toEqual(withoutPeers);
  expect(found.filter(({ imported, required }) => imported === '' || imported !== required)).toEqual([]);
});

test('every entry point can be required where CommonJS cannot load ESM, as in Jest', () => {
  const script = 'for (const name of process.argv.slice(1)) require(name);';

  node('--no-experimental-require-module', '-e', script, ...withoutPeers);
});

test('an agent from the tarball runs one tool round, with import and with require', () => {
  const smoke = fileURLToPath(new URL('../compat/smoke.mjs', import.meta.url));
  copyFileSync(smoke, join(project, 'smoke.mjs'));
  const text = readFileSync(smoke, 'utf8');
  // CommonJS has no top-level await, so the code is wrapped in a function.
  writeFileSync(
    join(project, 'smoke.cjs'),
    `(async () => {\n${text.replace(/^import (.*) from (.*);$/gm, 'const $1 = require($2);')}\n})();`,
  );

  expect(node('smoke.mjs')).toBe('one tool round works\n');
  expect(node('smoke.cjs')).toBe('one tool round works\n');
});

test('`instanceof` works between the copies of the package for import and for require', () => {
  const text = `
    import { createRequire } from 'node:module';
    import * as imported from 'keelson';
    import { fails, scriptedModel } from 'keelson/testing';
    const required = createRequire(import.meta.url)('keelson');
    for (const [{ Agent }, other] of [[imported, required], [required, imported]]) {
      const error = await new Agent({ model: scriptedModel([fails()]) }).run('go').catch((reason) => reason);
      const { KeelsonError, RunError, ModelError, RejectedError } = other;
      console.log([KeelsonError, RunError, ModelError, RejectedError].map((known) => error instanceof known).join());
    }`;
  writeFileSync(join(project, 'copies.mjs'), text);

  expect(node('copies.mjs')).toBe('true,true,true,false\n'.repeat(2));
});

test.each([false, true])(
  '`instanceof` works in a bundle of both copies, and errors keep their names (minified: %s)',
  async (minify) => {
    const text = `
    import * as imported from 'keelson';
    import { McpConnectError } from 'keelson/mcp';
    import required from './required.cjs';
    for (const [one, other] of [[imported, required], [required, imported]]) {
      const rejected = new one.RejectedError('no', 'guard', 'end');
      const { KeelsonError, RunError, ModelError, RejectedError } = other;
      const known = [KeelsonError, RunError, ModelError, RejectedError];
      console.log(rejected.name, known.map((known) => rejected instanceof known).join());
    }
    console.log(McpConnectError.name);`;
    writeFileSync(join(project, 'required.cjs'), `module.exports = require('keelson');`);
    writeFileSync(join(project, 'bundled.mjs'), text);
    const external = ['@modelcontextprotocol/*'];
    await build({
      bundle: true,
      format: 'esm',
      platform: 'node',
      external,
      minify,
      entryPoints: [join(project, 'bundled.mjs')],
      outfile: join(project, 'bundle.mjs'),
    });

    expect(node('bundle.mjs')).toBe(`${'RejectedError true,true,false,true\n'.repeat(2)}McpConnectError\n`);
  },
);

test('shortCircuit of the copy for require works in a registry of the copy for import', () => {
  const text = `
    import { createRequire } from 'node:module';
    import { Agent } from 'keelson';
    import { ExtensionRegistry } from 'keelson/extension';
    import { scriptedModel } from 'keelson/testing';
    const { shortCircuit } = createRequire(import.meta.url)('keelson/extension');
    const extensions = new ExtensionRegistry();
    extensions.register({ id: 'guard', onInputMessages: () => shortCircuit('Not here.') });
    const agent = new Agent({ model: scriptedModel(['never reached']), loaders: [extensions] });
    console.log((await agent.run('go')).text);`;
  writeFileSync(join(project, 'extension.mjs'), text);

  expect(node('extension.mjs')).toBe('Not here.\n');
});

test('every entry point loads with import and with require beside the optional packages', () => {
  peers.forEach(link);

  expect(exportsOf(specifiers).map(({ name }) => name)).toEqual(specifiers);
});

const slowCheck = `
const tool = wrapMcpTool(
  { name: 'tool', inputSchema: { type: 'object', properties: { a: { pattern: '^(a|a)*$' } } } },
  { server: 'server', call: async () => ({}) },
);
(async () => {
  const fits = await tool.check({ a: 'aaa' });
  const slow = await tool.check({ a: 'a'.repeat(40) + '!' });
  console.log(JSON.stringify([fits, slow.issues.map(({ message }) => message)]));
})();
`;

test.each([
  ['ESM', '--input-type=module', "import { wrapMcpTool } from 'keelson/mcp';"],
  ['CommonJS', '--input-type=commonjs', "const { wrapMcpTool } = require('keelson/mcp');"],
])('the worker for costly checks runs in %s, and does not keep the process alive', (_format, type, header) => {
  link('@modelcontextprotocol/sdk');

  expect(JSON.parse(node(type, '-e', header + slowCheck))).toEqual([
    { value: { a: 'aaa' } },
    ['It takes too long to be checked.'],
  ]);
});
