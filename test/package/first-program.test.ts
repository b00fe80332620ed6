import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, readPage, root } from '../support/docs/doc-files.js';
import { EmptyProject } from '../support/package/empty-project.js';

const OUTPUT = { code: 0, stdout: 'turn 1\nturn 2\nTake one: 12 °C and rain.\n', stderr: '' };
const program = firstProgramOf('README.md');

let project: EmptyProject;
beforeAll(() => {
  project = new EmptyProject();
  project.link('@types/node');
});
afterAll(() => project[Symbol.dispose]());

/** Returns the first program on a page: a block that imports what it uses. */
function firstProgramOf(path: string): string {
  const [first] = blocksOf({ path, text: readPage(path) }).filter(({ language }) => ['js', 'ts'].includes(language));
  return first?.code ?? '';
}

/** The compiler fails if it accepts a number as the input of a run. */
const WRONG =
  '\n// @ts-expect-error: the input must be a string or a message\nexport const wrong = () => agent.run(42);\n';

/** Compiles the program of the README with strict options, and writes the JavaScript to `out`. */
function compile(file: string, options: Readonly<Record<string, unknown>>) {
  project.write(file, program + WRONG);
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const compilerOptions = {
    ...strict,
    skipLibCheck: true,
    target: 'es2022',
    types: ['node'],
    outDir: 'out',
    ...options,
  };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: [file] }));
  return project.node(`${root}node_modules/typescript-newest/bin/tsc`, '-p', '.');
}

describe('the first program of the README, pasted into an empty project, prints its answer', () => {
  test('as plain JavaScript in `agent.mjs`', () => {
    expect(readPage('README.md')).toContain('Save this as `agent.mjs`');
    project.write('agent.mjs', program);

    expect(project.node('agent.mjs')).toEqual(OUTPUT);
  });

  test('as CommonJS in `agent.js`, with `require`', () => {
    const required = program.replaceAll(/^import (.*) from (.*);$/gm, 'const $1 = require($2);');
    project.write('agent.js', `(async () => {\n${required}\n})();`);

    expect(required).toContain("require('keelson')");
    expect(project.node('agent.js')).toEqual(OUTPUT);
  });

  test('as strict TypeScript in `agent.mts`, resolved as Node resolves it', () => {
    const compiled = compile('agent.mts', { module: 'nodenext' });

    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(project.node('out/agent.mjs')).toEqual(OUTPUT);
  });

  test('as strict TypeScript in `agent.ts`, resolved as a bundler resolves it', async () => {
    const compiled = compile('agent.ts', { module: 'esnext', moduleResolution: 'bundler' });
    const [entry, outfile] = ['out/agent.js', 'out/bundle.mjs'].map((path) => join(project.folder, path));
    await build({ entryPoints: [entry ?? ''], outfile: outfile ?? '', bundle: true, format: 'esm', platform: 'node' });

    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(project.node('out/bundle.mjs')).toEqual(OUTPUT);
  });
});

test('the first program of the page about streaming prints the text and the tree of its run', () => {
  project.write('stream.mjs', firstProgramOf('docs/streaming-and-events.md'));

  expect(project.node('stream.mjs')).toEqual({
    code: 0,
    stdout: 'Land in sight.\ncompleted: 1 turn, 0 tool calls, 10 + 5 tokens\n└─ turn 1  "Land in sight."\n',
    stderr: '',
  });
});
