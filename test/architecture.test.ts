import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { doorViolations } from './support/architecture/doors.js';
import { cycles } from './support/architecture/import-graph.js';
import { layerViolations, nodeViolations, packageViolations } from './support/architecture/layers.js';
import { folderViolations, readPaths } from './support/architecture/rooms.js';
import {
  anyViolations,
  memberViolations,
  parameterViolations,
  plainErrorViolations,
  sizeViolations,
} from './support/architecture/shape.js';
import { readSources, type SourceFile } from './support/architecture/source-file.js';
import {
  agentViolations,
  nameViolations,
  privateWordViolations,
  rootViolations,
} from './support/architecture/surface.js';

// The compiler parses every file, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const sources = readSources('src');
const tests = readSources('test');

/** Converts `{ 'path.ts': source }` to the source files of a bad example. */
function planted(files: Record<string, string>): SourceFile[] {
  return Object.entries(files).map(([path, text]) => ({ path, text }));
}

const lines = (count: number) => 'x();\n'.repeat(count);
const members = (count: number) => Array.from({ length: count }, (_, index) => `m${index}() {}`).join('\n');

interface Rule {
  readonly title: string;
  readonly check: (files: readonly SourceFile[]) => string[];
  /** Small bad examples, each with the violations that the check must report. */
  readonly bad: readonly (readonly [files: Record<string, string>, violations: readonly string[]])[];
}

// covers: S4-PC3, S4-NFR5.3
const rules: readonly Rule[] = [
  {
    title: 'a layer imports only lower layers, type imports included',
    check: layerViolations,
    bad: [
      [
        { 'model/model.ts': "import type { Tool } from '../tools/tool.js';" },
        ['model/model.ts may not import tools/tool.ts'],
      ],
      [{ 'state/a.ts': "import '../tools/tool.js';" }, ['state/a.ts may not import tools/tool.ts']],
      [{ 'errors.ts': "import './internal/json.js';" }, ['errors.ts may not import internal/json.ts']],
      [{ 'mcp/a.ts': "import '../agent/agent.js';" }, ['mcp/a.ts may not import agent/agent.ts']],
      [{ 'mcp/a.ts': "export * from '../manifest/b.js';" }, ['mcp/a.ts may not import manifest/b.ts']],
      [{ 'skills/a.ts': "import '../manifest/b.js';" }, ['skills/a.ts may not import manifest/b.ts']],
      [{ 'telemetry/a.ts': "import './otel/run.js';" }, ['telemetry/a.ts may not import telemetry/otel/run.ts']],
      [
        { 'telemetry/otel/run.ts': "import '../../agent/run.js';" },
        ['telemetry/otel/run.ts may not import agent/run.ts'],
      ],
      [{ 'agent/a.ts': "await import('../index.js');" }, ['agent/a.ts may not import index.ts']],
      [{ 'agent/a.ts': "type A = import('../trust/b.js').B;" }, ['agent/a.ts may not import trust/b.ts']],
      [{ 'stuff/a.ts': '' }, ['stuff/a.ts is in no known layer']],
    ],
  },
  {
    title: 'there is no import cycle, types included',
    check: cycles,
    bad: [
      [
        { 'agent/a.ts': "import type { B } from './b.js';", 'agent/b.ts': "export { a } from './a.js';" },
        ['agent/a.ts > agent/b.ts > agent/a.ts'],
      ],
    ],
  },
  {
    title: 'only some folders import node: modules, and the root entry reaches none of them',
    check: nodeViolations,
    bad: [
      [{ 'agent/a.ts': "import { join } from 'node:path';" }, ['agent/a.ts may not import node:path']],
      [{ 'tools/a.ts': "await import('fs/promises');" }, ['tools/a.ts may not import fs/promises']],
      [
        { 'index.ts': "export { a } from './process/a.js';", 'process/a.ts': "import 'node:fs';" },
        ['index.ts reaches node:fs through process/a.ts'],
      ],
    ],
  },
  {
    title: 'each third-party package is imported only in its own folder',
    check: packageViolations,
    bad: [
      [{ 'agent/a.ts': "import type A from '@anthropic-ai/sdk';" }, ['agent/a.ts may not import @anthropic-ai/sdk']],
      [
        { 'providers/openai/a.ts': "import '@anthropic-ai/sdk/core';" },
        ['providers/openai/a.ts may not import @anthropic-ai/sdk/core'],
      ],
      [{ 'mcp/ai.ts': "import 'ai';" }, ['mcp/ai.ts may not import ai']],
      [
        { 'mcp/server/a.ts': "import type { Client } from '@modelcontextprotocol/sdk/client/index.js';" },
        ['mcp/server/a.ts may not import @modelcontextprotocol/sdk/client/index.js'],
      ],
      [{ 'internal/a.ts': "import 'lodash';" }, ['internal/a.ts may not import lodash']],
      [
        { 'index.ts': "export { a } from './tools/a.js';", 'tools/a.ts': "import { z } from 'zod';" },
        ['index.ts reaches zod through tools/a.ts'],
      ],
    ],
  },
  {
    title: 'there is no `any`',
    check: anyViolations,
    bad: [[{ 'a.ts': 'const a = 1;\nconst b = a as any;' }, ['a.ts:2 says `any`']]],
  },
  {
    title: 'no plain `Error` is constructed',
    check: plainErrorViolations,
    bad: [
      [{ 'a.ts': "throw new Error('x');" }, ['a.ts:1 makes a plain Error']],
      [{ 'a.ts': "const e = Error('x');" }, ['a.ts:1 makes a plain Error']],
      [{ 'a.ts': "reject(new TypeError('x'));" }, ['a.ts:1 makes a plain TypeError']],
    ],
  },
  {
    title: 'files and functions are short, also in the median',
    check: sizeViolations,
    bad: [
      [{ 'a.ts': lines(301) }, ['a.ts has 301 lines, more than 300', 'the median file has 301 lines, more than 120']],
      [
        { 'a.ts': `const f = () => {\n${lines(49)}};` },
        ['a.ts:1 has 51 lines, more than 50', 'the median function has 51 lines, more than 10'],
      ],
      [
        { 'a.ts': `class A {\nconstructor() {\n${lines(24)}}\na() {}\nb() {}\n}` },
        ['a.ts:2 has 26 lines, more than 25'],
      ],
    ],
  },
  {
    title: 'no function has more than three parameters',
    check: parameterViolations,
    bad: [
      [{ 'a.ts': 'function f(a, b, c, d) {}' }, ['a.ts:1 has 4 parameters, more than 3']],
      [{ 'a.ts': 'interface A {\n m(a: 1, b: 1, c: 1, d: 1): void }' }, ['a.ts:2 has 4 parameters, more than 3']],
    ],
  },
  {
    title: 'no class has more than twenty-five members',
    check: memberViolations,
    bad: [
      [{ 'a.ts': `class A { ${members(26)} }` }, ['a.ts:1: A has 26 members, more than 25']],
      [
        { 'a.ts': `const a = class { #f = 1; private g() {} constructor(readonly a, b) {} ${members(22)} };` },
        ['a.ts:1: a class without a name has 26 members, more than 25'],
      ],
      [{ 'a.ts': `class A { get v() { return 1; } set v(x) {} o(a: 1); o(a: 2); o(a) {} ${members(22)} }` }, []],
    ],
  },
  {
    title: 'the root entry exports at most thirteen values by name, apart from errors',
    check: rootViolations,
    bad: [
      [{ 'a.ts': '' }, ['src/index.ts is missing']],
      [{ 'index.ts': "export * from './a.js';" }, ['index.ts has an `export *`']],
      [
        { 'index.ts': `export { ${Array.from({ length: 14 }, (_, i) => `a${i}`)}, AError, type T } from './a.js';` },
        ['index.ts exports 14 values beside its errors, more than 13'],
      ],
    ],
  },
  {
    title: 'Agent has at most sixteen public members',
    check: agentViolations,
    bad: [
      [{ 'agent/agent.ts': 'class Other {}' }, ['src/agent/agent.ts with a class Agent is missing']],
      [
        { 'agent/agent.ts': `class Agent { constructor() {} #a; private b; ${members(17)} }` },
        ['Agent has 17 public members, more than 16'],
      ],
    ],
  },
  {
    title: 'file names are in kebab-case and describe the content',
    check: nameViolations,
    bad: [
      [{ 'agent/runLoop.ts': '' }, ['agent/runLoop.ts is not in kebab-case']],
      [{ 'agent/types.ts': '' }, ['agent/types.ts says nothing of what it holds']],
      [{ 'agent/index.ts': '' }, ['agent/index.ts says nothing of what it holds']],
    ],
  },
  {
    title: 'identifiers have no private words',
    check: privateWordViolations,
    bad: [
      [{ 'a.ts': 'const weighAnswer = 1;' }, ['a.ts names `weighAnswer`: use check, compare or rank']],
      [{ 'a.ts': 'function f(said: string) {}' }, ['a.ts names `said`: use the kind of value: text, answer, entry']],
      [{ 'a.ts': 'const { tellMoment } = b;' }, ['a.ts names `tellMoment`: use report, notify or send']],
      [{ 'a.ts': 'const weight = 1; const retold = 2;' }, []],
    ],
  },
];

/** Rules for the files of `test`. */
const testRules: readonly Rule[] = [
  {
    title: 'a test speaks through public entries and test/support',
    check: doorViolations,
    bad: [
      [
        { 'agent/run/a.test.ts': "import { b } from '../../../src/agent/b.js';" },
        ['test/agent/run/a.test.ts names ../../../src/agent/b.js instead of a public entry'],
      ],
      [
        { 'lifecycle/a.test.ts': "import type { B } from '../../src/index.js';" },
        ['test/lifecycle/a.test.ts names ../../src/index.js instead of a public entry'],
      ],
      [
        { 'support/lifecycle/a.ts': "readFileSync(new URL('../../../src/lifecycle/b.ts', import.meta.url));" },
        ['test/support/lifecycle/a.ts names ../../../src/lifecycle/b.ts instead of a public entry'],
      ],
      [
        { 'support/base-suite.ts': "import '../../src/agent/agent.js';", 'mcp/a.test.ts': "import '../../src/b.js';" },
        [],
      ],
      [{ 'agent/a.test.ts': "import { Agent } from 'keelson'; import '../support/agent/settle.js';" }, []],
    ],
  },
];

describe.each([
  ...rules.map((rule) => ({ ...rule, folder: 'src', files: sources })),
  ...testRules.map((rule) => ({ ...rule, folder: 'test', files: tests })),
])('$title', ({ check, bad, folder, files }) => {
  test(`holds for ${folder}`, () => {
    expect(check(files)).toEqual([]);
  });

  test.each(bad)('reports the violations of an example: %o', (example, violations) => {
    expect(check(planted(example))).toEqual(violations);
  });
});

test('S4-PC3, S4-TC1: the package depends on its declared packages and on nothing else', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

  expect(Object.keys(dependencies).sort()).toEqual([
    '@cfworker/json-schema',
    'es-module-lexer',
    'eventemitter3',
    'minisearch',
    'p-timeout',
    're2js',
    'yaml',
    'zod',
  ]);
});

test.each(['src', 'test'] as const)('no folder of %s holds more than fifteen files', (folder) => {
  expect(folderViolations(readPaths(folder))).toEqual([]);
});

test('the check reports a folder with too many files', () => {
  const sixteen = Array.from({ length: 16 }, (_, index) => `a/${index}.ts`);

  expect(folderViolations([...sixteen, 'b/0.ts'])).toEqual(['a holds 16 files, more than 15']);
  expect(folderViolations(sixteen.map((path) => `fixtures/${path}`))).toEqual([]);
});

test('docs/architecture.md describes every folder of src that has files', () => {
  const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const folders = new Set(readPaths('src').map((path) => `src/${path}`.replace(/\/[^/]*$/, '')));
  const told = [...folders].filter((folder) => page.includes(`| \`${folder}\` | `));

  expect([...folders].filter((folder) => folder !== 'src' && !told.includes(folder))).toEqual([]);
});
