import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, readPage, root, rowsOf } from '../support/docs/doc-files.js';
import { EmptyProject } from '../support/package/empty-project.js';

const START = `
import { Agent, defineTool } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { z } from 'zod';
const input = z.object({ city: z.string() });
const weather = defineTool({ name: 'weather', description: 'The weather.', input, execute: () => 'rain' });
const agent = new Agent({ model: scriptedModel(['Hello.']) });
`;

let project: EmptyProject;
beforeAll(() => {
  project = new EmptyProject();
});
afterAll(() => project[Symbol.dispose]());

/** A row of docs/type-errors.md: the wrong code, and a part of the error that TypeScript prints. */
const typeErrors = rowsOf(readPage('docs/type-errors.md'))
  .filter(([code = '']) => code.startsWith('`'))
  .map(([code = '', printed = '']) => ({ code: code.replaceAll('`', ''), printed: printed.replaceAll('`', '') }));

test('TypeScript prints the errors of docs/type-errors.md', () => {
  const path = 'docs/type-errors.md';
  const start = blocksOf({ path, text: readPage(path) })[0]?.code ?? '';
  const used = 'export const used = [weather, HookAction];\n';
  const program = (code: string) => `${start.replace('{ Agent,', '{ Agent, HookAction,')}${used}void (${code});\n`;
  const names = typeErrors.map((_row, index) => `wrong-${index}.mts`);
  for (const [index, { code }] of typeErrors.entries()) project.write(`wrong-${index}.mts`, program(code));
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', skipLibCheck: true };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: names }));

  const { stdout } = project.node(`${root}node_modules/typescript-newest/bin/tsc`, '-p', '.', '--pretty', 'false');

  const errorsOf = (name: string) =>
    stdout
      .split(/^(?=wrong-)/m)
      .filter((text) => text.startsWith(`${name}(`))
      .join('');
  expect(typeErrors.length).toBeGreaterThanOrEqual(12);
  expect(typeErrors.filter(({ printed }, index) => !errorsOf(`wrong-${index}.mts`).includes(printed))).toEqual([]);
});

describe('a program written with the habits of another library stops with an error that names the right word', () => {
  test.each<[habit: string, program: string, words: readonly string[]]>([
    [
      'defineTool({ parameters })',
      "defineTool({ name: 'weather', description: 'The weather.', parameters: input, execute: () => 'rain' });",
      ['ToolInvalidError', 'parameters', '`input`'],
    ],
    [
      'agent.run([message])',
      "await agent.run([{ role: 'user', content: 'Hi' }]);",
      ['MessageInvalidError', "run('', { messages })"],
    ],
    [
      'agent.run({ messages })',
      "await agent.run({ messages: [{ role: 'user', content: 'Hi' }] });",
      ['MessageInvalidError', "run('', { messages })"],
    ],
    [
      'stream.textStream',
      "for await (const text of agent.stream('Hi').textStream) process.stdout.write(text);",
      ['textStream', '`text`'],
    ],
    [
      'tools: { name: tool }',
      'new Agent({ model: scriptedModel([]), tools: { weather } });',
      ['OptionInvalidError', '`tools`', 'Object.values(tools)'],
    ],
  ])('%s', (_habit, program, words) => {
    project.write('wrong.mjs', START + program);
    const { code, stdout, stderr } = project.node('wrong.mjs');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const word of words) expect(stderr).toContain(word);
  });

  test('a correct program with the same first lines ends well', () => {
    project.write('right.mjs', `${START}console.log((await agent.run('Hi')).text);`);

    expect(project.node('right.mjs')).toEqual({ code: 0, stdout: 'Hello.\n', stderr: '' });
  });
});
