import ts from 'typescript';
import { descendants, parse, placeOf, type SourceFile } from './source-file.js';

const MAX_FUNCTION = 50;
const MAX_CONSTRUCTOR = 25;
const MAX_FILE = 300;
const MEDIAN_FILE = 120;
const MEDIAN_FUNCTION = 10;
const MAX_PARAMETERS = 3;
const MAX_MEMBERS = 25;

/** Reports files and functions that are too long, and medians that are too long. */
export function sizeViolations(files: readonly SourceFile[]): string[] {
  const functions = files.flatMap(functionsOf);
  const fileLines = files.map(({ text }) => text.trimEnd().split('\n').length);
  const named = functions.filter(isNamed).map(linesOf);
  return [
    ...files.flatMap(({ path }, index) => over(path, { lines: fileLines[index] ?? 0, max: MAX_FILE })),
    ...functions.flatMap((node) => over(placeOf(node), { lines: linesOf(node), max: maxLines(node) })),
    ...over('the median file', { lines: median(fileLines), max: MEDIAN_FILE }),
    ...over('the median function', { lines: median(named), max: MEDIAN_FUNCTION }),
  ];
}

function over(what: string, { lines, max }: { lines: number; max: number }): string[] {
  return lines > max ? [`${what} has ${lines} lines, more than ${max}`] : [];
}

function functionsOf(file: SourceFile): ts.FunctionLikeDeclaration[] {
  return descendants(parse(file)).filter(
    (node) => ts.isFunctionLike(node) && 'body' in node && !!node.body,
  ) as ts.FunctionLikeDeclaration[];
}

/** Excludes callbacks from the median, because many one-line callbacks would hide long functions. */
function isNamed(node: ts.FunctionLikeDeclaration): boolean {
  const isCallback = ts.isArrowFunction(node) || ts.isFunctionExpression(node);
  return !isCallback || ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent);
}

function maxLines(node: ts.Node): number {
  return ts.isConstructorDeclaration(node) ? MAX_CONSTRUCTOR : MAX_FUNCTION;
}

function linesOf(node: ts.Node): number {
  return node.getText().split('\n').length;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Reports functions, methods and function types with more than three parameters. */
export function parameterViolations(files: readonly SourceFile[]): string[] {
  return nodesOf(files).flatMap((node) => {
    if (!ts.isFunctionLike(node)) return [];
    const count = node.parameters.filter((it) => it.name.getText() !== 'this').length;
    return count > MAX_PARAMETERS ? [`${placeOf(node)} has ${count} parameters, more than ${MAX_PARAMETERS}`] : [];
  });
}

/** Reports classes with more than 25 members: the constructor, fields, accessors and methods, private ones too. */
export function memberViolations(files: readonly SourceFile[]): string[] {
  return nodesOf(files).flatMap((node) => {
    if (!ts.isClassLike(node)) return [];
    const count = membersOf(node);
    const name = node.name?.text ?? 'a class without a name';
    return count > MAX_MEMBERS ? [`${placeOf(node)}: ${name} has ${count} members, more than ${MAX_MEMBERS}`] : [];
  });
}

/** Counts an overloaded method once, and a parameter property of the constructor as a field. */
function membersOf({ members }: ts.ClassLikeDeclaration): number {
  const declared = members.filter((it) => !ts.isSemicolonClassElement(it) && !isOverload(it));
  const properties = members
    .filter(ts.isConstructorDeclaration)
    .flatMap(({ parameters }) => parameters.filter((it) => ts.isParameterPropertyDeclaration(it, it.parent)));
  return declared.length + properties.length;
}

function isOverload(member: ts.ClassElement): boolean {
  return (ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member)) && member.body === undefined;
}

/** Reports every use of the type `any`. */
export function anyViolations(files: readonly SourceFile[]): string[] {
  return nodesOf(files)
    .filter((node) => node.kind === ts.SyntaxKind.AnyKeyword)
    .map((node) => `${placeOf(node)} says \`any\``);
}

const untyped = ['Error', 'TypeError', 'RangeError', 'SyntaxError'];

/** Reports every construction of a built-in error class, such as `new Error()`. */
export function plainErrorViolations(files: readonly SourceFile[]): string[] {
  return nodesOf(files).flatMap((node) => {
    if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return [];
    const name = node.expression.getText();
    return untyped.includes(name) ? [`${placeOf(node)} makes a plain ${name}`] : [];
  });
}

function nodesOf(files: readonly SourceFile[]): ts.Node[] {
  return files.flatMap((file) => descendants(parse(file)));
}
