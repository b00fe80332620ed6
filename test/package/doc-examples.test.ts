import ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  compileExamples,
  docExamplesIn,
  readDocExamples,
  readPublicNames,
  sourceProgram,
} from '../support/docs/doc-examples.js';

const examples = readDocExamples();
let program: ts.Program;

beforeAll(() => {
  program = sourceProgram();
});

describe('examples in doc comments', () => {
  test('compile', () => {
    expect(examples.length).toBeGreaterThan(30);
    expect(compileExamples(examples, program)).toEqual([]);
  });

  test('are found with and without a code fence, and an error names the file and the line', () => {
    const text = [
      '/**',
      ' * Adds.',
      ' *',
      ' * @example',
      ' * ```ts',
      " * const agent = new Agent({ model: 'none' });",
      ' * ```',
      ' * @example',
      ' * await agent.run(1);',
      ' * @returns nothing',
      ' */',
    ].join('\n');
    const found = docExamplesIn('src/a.ts', text);

    expect(found.map(({ line }) => line)).toEqual([5, 9]);
    expect(compileExamples(found, program)).toEqual([
      expect.stringMatching(/^src\/a\.ts:6 Type 'string' is not assignable/),
      expect.stringMatching(/^src\/a\.ts:9 .*'number' is not assignable/),
    ]);
  });
});

describe('public names', () => {
  test('every function, class and object except errors has an example', () => {
    const values = readPublicNames(program).filter(
      ({ name, symbol, isType }) => symbol.flags & ts.SymbolFlags.Value && !isType && !name.endsWith('Error'),
    );

    expect(values.length).toBeGreaterThan(50);
    expect(values.filter(({ symbol }) => !hasExample(symbol)).map(({ name }) => name)).toEqual([]);
  });

  test('every options type has an example, or is an argument in one', () => {
    const names = readPublicNames(program);
    const taken = new Set(
      names.flatMap(({ symbol }) => declarationsOf(symbol)).flatMap((declaration) => argumentTypes(declaration)),
    );
    const groups = names.filter(({ name }) => name.endsWith('Options') && !notWrittenFirst.includes(name));

    expect(groups.length).toBeGreaterThan(20);
    expect(
      groups.filter(({ name, symbol }) => !hasExample(symbol) && !taken.has(name)).map(({ name }) => name),
    ).toEqual([]);
  });
});

/** Base types, nested option groups, options of single calls, and options of custom errors. They need no example. */
const notWrittenFirst = [
  'SessionRunOptions',
  'AttachOptions',
  'KeelsonErrorOptions',
  'ClientRequestOptions',
  'FileOptions',
  'McpReconnectOptions',
  'McpReadOptions',
  'McpCallOptions',
  'McpRemoveOptions',
  'HookMachineOptions',
  'SetAsideOptions',
  'HandlerOptions',
  'ErrorTextOptions',
];

function hasExample(symbol: ts.Symbol): boolean {
  return symbol.getJsDocTags().some(({ name }) => name === 'example');
}

/** Returns the function that has an example, or the constructor and the methods with examples of a class. */
function declarationsOf(symbol: ts.Symbol): ts.Node[] {
  const own = hasExample(symbol) ? (symbol.declarations ?? []) : [];
  const members = (symbol.declarations ?? []).filter(ts.isClassDeclaration).flatMap(({ members }) => [...members]);
  return [...own, ...members.filter((member) => ts.isConstructorDeclaration(member) || isShown(member))];
}

function isShown(member: ts.ClassElement): boolean {
  return ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'example');
}

/** Returns the names of the parameter types of a function. `XArguments` also counts as `XOptions`. */
function argumentTypes(declaration: ts.Node): string[] {
  if (!ts.isFunctionLike(declaration)) return [];
  const names = declaration.parameters.flatMap(({ type }) => type?.getText().match(/\w+/g) ?? []);
  return names.flatMap((name) => [name, name.replace(/Arguments$/, 'Options')]);
}
