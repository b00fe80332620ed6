import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { readEntries } from '../../../scripts/entries.mjs';
import { root } from './doc-files.js';

/** The code of one `@example` tag. */
export interface DocExample {
  readonly path: string;
  /** The line in the file at which the code begins. */
  readonly line: number;
  readonly code: string;
}

/** Returns every `@example` in the doc comments of `src`. */
export function readDocExamples(): DocExample[] {
  const paths = readdirSync(`${root}src`, { recursive: true }).map((path) => `src/${path}`.replaceAll('\\', '/'));
  return paths
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .flatMap((path) => docExamplesIn(path, readFileSync(root + path, 'utf8')));
}

/** Returns the examples of one file, with or without code fences. */
export function docExamplesIn(path: string, text: string): DocExample[] {
  const examples: DocExample[] = [];
  let code: string[] | undefined;
  let start = 0;
  const close = () => {
    if (code) examples.push({ path, line: start, code: code.join('\n').trimEnd() });
    code = undefined;
  };
  for (const [index, line] of text.split('\n').entries()) {
    if (/^ *\* @example/.test(line)) {
      close();
      code = [];
      start = index + 2;
    } else if (/^ *(\* @\w|\*\/)/.test(line)) close();
    else code?.push(line.replace(/^ *\* ?/, '').replace(/^```.*/, ''));
  }
  return examples;
}

const preamble = `${root}test/support/docs/example-preamble.ts`;
const options = compilerOptions();

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: ['src/index.ts'] },
    ts.sys,
    root,
  ).options;
  // Examples need no type-only imports, and may import a package under its usual name, which is an alias here.
  const paths = { ...parsed.paths, '@ai-sdk/openai': ['./node_modules/ai-sdk-openai-v3/dist/index.d.ts'] };
  return { ...parsed, paths, verbatimModuleSyntax: false, isolatedModules: false, allowJs: false };
}

/** A value or type that an entry point exports. */
export interface PublicName {
  readonly name: string;
  readonly specifier: string;
  readonly symbol: ts.Symbol;
  /** True if the export is type-only, so that it is missing at run time. */
  readonly isType: boolean;
}

/** Returns each exported name once, with the first entry point that exports it. */
export function readPublicNames(program: ts.Program): PublicName[] {
  const checker = program.getTypeChecker();
  const seen = new Map<ts.Symbol, PublicName>();
  for (const { specifier, source } of readEntries()) {
    const file = program.getSourceFile(root + source);
    const module = file && checker.getSymbolAtLocation(file);
    for (const found of module ? checker.getExportsOfModule(module) : []) {
      const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
      if (!seen.has(symbol)) seen.set(symbol, { name: found.name, specifier, symbol, isType: isTypeOnly(found) });
    }
  }
  return [...seen.values()];
}

function isTypeOnly({ declarations = [] }: ts.Symbol): boolean {
  return declarations.every(ts.isTypeOnlyExportDeclaration);
}

/** Creates a program of the entry points and the preamble of the examples. */
export function sourceProgram(): ts.Program {
  return ts.createProgram([...readEntries().map(({ source }) => root + source), preamble], options);
}

/**
 * Compiles the examples as modules of one program, and returns the errors. An undeclared name is imported from the
 * entry point that exports it, or from the preamble.
 */
export function compileExamples(examples: readonly DocExample[], base: ts.Program): string[] {
  const origins = originsOf(base);
  const modules = new Map(examples.map((example, index) => [`${root}test/docs/example-${index}.ts`, example]));
  const host = ts.createCompilerHost(options);
  const onDisk = { fileExists: host.fileExists, readFile: host.readFile, getSourceFile: host.getSourceFile };
  host.fileExists = (name) => modules.has(name) || onDisk.fileExists(name);
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const example = modules.get(name);
    if (!example) return base.getSourceFile(name) ?? onDisk.getSourceFile(name, languageVersion, ...rest);
    return ts.createSourceFile(name, moduleOf(example.code, origins), languageVersion, true);
  };
  const program = ts.createProgram([...modules.keys()], options, host, base);
  return [...modules].flatMap(([name, example]) => {
    const file = program.getSourceFile(name);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map((diagnostic) => messageOf(diagnostic, example));
  });
}

/** Returns the module that each name is imported from. The preamble wins over the entry points. */
function originsOf(program: ts.Program): Map<string, string> {
  const origins = new Map<string, string>();
  for (const { name, specifier } of readPublicNames(program)) if (!origins.has(name)) origins.set(name, specifier);
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(preamble);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new TypeError(`${preamble} must export the names that examples use without declaring them`);
  for (const { name } of checker.getExportsOfModule(module)) origins.set(name, '../support/docs/example-preamble.js');
  return origins;
}

/** Returns the example as a module, with all imports on one extra first line to keep line numbers simple. */
function moduleOf(code: string, origins: ReadonlyMap<string, string>): string {
  const file = ts.createSourceFile('example.ts', code, ts.ScriptTarget.ESNext, true);
  const own = new Set(file.statements.flatMap(namesDeclaredBy));
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !own.has(node.text)) used.add(node.text);
    node.forEachChild(visit);
  };
  visit(file);
  const imports = [...used].flatMap((name) => {
    const specifier = origins.get(name);
    return specifier ? [`import { ${name} } from '${specifier}';`] : [];
  });
  return `${imports.join(' ')} export {};\n${code}`;
}

function namesDeclaredBy(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => inside(name));
  if (ts.isImportDeclaration(statement)) {
    const bindings = statement.importClause?.namedBindings;
    if (!bindings) return statement.importClause?.name ? [statement.importClause.name.text] : [];
    return ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [bindings.name.text];
  }
  const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
  return name ? [name.text] : [];
}

function inside(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? inside(element.name) : []));
}

function messageOf({ file, start, messageText }: ts.Diagnostic, { path, line }: DocExample): string {
  const row = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 1;
  return `${path}:${line + row - 1} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
}
