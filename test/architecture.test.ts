import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cycles } from './support/architecture/import-graph.js';
import { layerViolations, nodeViolations, packageViolations } from './support/architecture/layers.js';
import { folderViolations, mirrorViolations, readPaths } from './support/architecture/rooms.js';
import {
  anyViolations,
  parameterViolations,
  plainErrorViolations,
  sizeViolations,
} from './support/architecture/shape.js';
import { readSources, type SourceFile } from './support/architecture/source-file.js';
import { agentViolations, nameViolations, rootViolations } from './support/architecture/surface.js';

const sources = readSources();

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
      [{ 'agent/a.ts': "import type OpenAI from 'openai';" }, ['agent/a.ts may not import openai']],
      [
        { 'providers/anthropic/a.ts': "import 'openai/core';" },
        ['providers/anthropic/a.ts may not import openai/core'],
      ],
      [{ 'mcp/openai.ts': "import 'openai';" }, ['mcp/openai.ts may not import openai']],
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
    title: 'the root entry exports at most twelve values by name, apart from errors',
    check: rootViolations,
    bad: [
      [{ 'a.ts': '' }, ['src/index.ts is missing']],
      [{ 'index.ts': "export * from './a.js';" }, ['index.ts has an `export *`']],
      [
        { 'index.ts': `export { ${Array.from({ length: 13 }, (_, i) => `a${i}`)}, AError, type T } from './a.js';` },
        ['index.ts exports 13 values beside its errors, more than 12'],
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
];

describe.each(rules)('$title', ({ check, bad }) => {
  test('holds for src', () => {
    expect(check(sources)).toEqual([]);
  });

  test.each(bad)('reports the violations of a bad example: %o', (files, violations) => {
    expect(check(planted(files))).toEqual(violations);
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
    'yaml',
    'zod',
  ]);
});

test.each(['src', 'test'] as const)('no folder of %s holds more than fifteen files', (folder) => {
  expect(folderViolations(readPaths(folder))).toEqual([]);
});

test('each test file has the path of the source file that it is named after', () => {
  expect(mirrorViolations(readPaths('test'), readPaths('src'))).toEqual([]);
});

test('the checks report a folder with too many files and a test file with a wrong path', () => {
  const sixteen = Array.from({ length: 16 }, (_, index) => `a/${index}.ts`);
  const sources = ['mcp/server/status.ts', 'mcp/tools/name.ts'];

  expect(folderViolations([...sixteen, 'b/0.ts'])).toEqual(['a holds 16 files, more than 15']);
  expect(folderViolations(sixteen.map((path) => `fixtures/${path}`))).toEqual([]);
  expect(mirrorViolations(['mcp/server/status.test.ts', 'mcp/tools/many-names.test.ts'], sources)).toEqual([]);
  expect(mirrorViolations(['mcp/tools/status.test.ts', 'mcp/old/a.test.ts'], sources)).toEqual([
    'mcp/tools/status.test.ts is named after mcp/server/status.ts',
    'mcp/old/a.test.ts lies in a folder that src does not have',
  ]);
});

test('docs/architecture.md describes every folder of src that has files', () => {
  const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8');
  const folders = new Set(readPaths('src').map((path) => `src/${path}`.replace(/\/[^/]*$/, '')));
  const told = [...folders].filter((folder) => page.includes(`| \`${folder}\` | `));

  expect([...folders].filter((folder) => folder !== 'src' && !told.includes(folder))).toEqual([]);
});
