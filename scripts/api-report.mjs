// Writes the public API of each entry to test/package/api/<entry>.api.md. test/package/package.test.ts compares them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { readEntries } from './entries.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}test/package/api/`;

/**
 * Returns one report for each entry, by entry name. A report lists every exported declaration, sorted and without
 * comments, then the declarations that these refer to but that are not exported.
 * @returns {Map<string, string>}
 */
export function apiReports() {
  const entries = readEntries();
  const { program, ours } = declarationProgram(entries.map((entry) => root + entry.source));
  const core = exportsOf(program, 'src/index.ts');
  const atRoot = new Set([...core.keys(), ...referredTo(program.getTypeChecker(), core, ours).keys()]);
  return new Map(
    entries.map(({ name, specifier, source }) => {
      const exported = exportsOf(program, source);
      const inner = referredTo(program.getTypeChecker(), exported, ours);
      // The report of a subpath leaves out the types that the report of the root entry has.
      if (name !== 'index') for (const symbol of atRoot) inner.delete(symbol);
      const sections = [section('Exported', exported, ours), section('Referred to, not exported', inner, ours)];
      return [name, `# ${specifier}\n${sections.join('')}`];
    }),
  );
}

/** @param {string} entry */
export function committedReport(entry) {
  const path = `${folder}${entry}.api.md`;
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/**
 * Creates a program from the declaration files of `src`, so that inferred types are written out. Generates the files in
 * memory.
 * @param {string[]} files
 */
function declarationProgram(files) {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  Object.assign(options, { noEmit: false, declaration: true, emitDeclarationOnly: true, removeComments: true });
  /** @type {Map<string, string>} */
  const ours = new Map();
  ts.createProgram(files, options).emit(undefined, (path, text) => ours.set(path, text));
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (path) => ours.get(path) ?? readFile.call(host, path);
  host.fileExists = (path) => ours.has(path) || (!path.startsWith(`${root}src/`) && fileExists.call(host, path));
  host.getSourceFile = (path, target) => {
    const text = ours.get(path);
    return text === undefined ? getSourceFile.call(host, path, target) : ts.createSourceFile(path, text, target, true);
  };
  return { program: ts.createProgram(files.map(declarationPath), options, host), ours };
}

/** @param {string} file */
function declarationPath(file) {
  return file.replace(/\.ts$/, '.d.ts');
}

/**
 * @param {ts.Program} program
 * @param {string} source
 */
function exportsOf(program, source) {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(declarationPath(root + source));
  const module = file && checker.getSymbolAtLocation(file);
  const symbols = module ? checker.getExportsOfModule(module) : [];
  return new Map(symbols.map((symbol) => [resolve(checker, symbol), symbol.name]));
}

/**
 * @param {ts.TypeChecker} checker
 * @param {Map<ts.Symbol, string>} exported
 * @param {Map<string, string>} ours
 */
function referredTo(checker, exported, ours) {
  /** @type {Map<ts.Symbol, string>} */
  const inner = new Map();
  const queue = [...exported.keys()];
  for (const symbol of queue) {
    for (const found of (symbol.declarations ?? []).flatMap((it) => references(checker, it))) {
      if (exported.has(found) || inner.has(found) || !isTopLevel(found, ours)) continue;
      inner.set(found, found.name);
      queue.push(found);
    }
  }
  return inner;
}

/**
 * @param {string} title
 * @param {Map<ts.Symbol, string>} symbols
 * @param {Map<string, string>} ours
 */
function section(title, symbols, ours) {
  if (symbols.size === 0) return '';
  const texts = [...symbols].map(([symbol, name]) => describe(symbol, name, ours)).sort();
  return `\n## ${title}\n\n\`\`\`ts\n${texts.map(([, text]) => text).join('\n\n')}\n\`\`\`\n`;
}

/**
 * @param {ts.Symbol} symbol
 * @param {string} name
 * @param {Map<string, string>} ours
 * @returns {[name: string, text: string]}
 */
function describe(symbol, name, ours) {
  const declarations = symbol.declarations ?? [];
  const own = declarations.filter((it) => ours.has(it.getSourceFile().fileName));
  if (own.length === 0) return [name, `export { ${name} } from another package`];
  const renamed = symbol.name === name ? [] : [`export { ${symbol.name} as ${name} }`];
  return [name, [...own.map(publicText), ...renamed].join('\n')];
}

/** Returns the text of a declaration without its private members. @param {ts.Declaration} declaration */
function publicText(declaration) {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const hidden = ts.isClassDeclaration(node) ? node.members.filter(isPrivate) : [];
  const start = node.getStart();
  let text = node.getText();
  for (const member of hidden.reverse()) {
    text = text.slice(0, member.getFullStart() - start) + text.slice(member.end - start);
  }
  return text
    .replace(/^export /, '')
    .replace(/^declare /, '')
    .replaceAll('\r\n', '\n');
}

/** @param {ts.Node} member */
function isPrivate(member) {
  if (!ts.isClassElement(member)) return false;
  const isHash = member.name !== undefined && ts.isPrivateIdentifier(member.name);
  return isHash || (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0;
}

/**
 * @param {ts.TypeChecker} checker
 * @param {ts.Node} node
 * @returns {ts.Symbol[]}
 */
function references(checker, node) {
  if (isPrivate(node)) return [];
  const own = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
  /** @type {ts.Symbol[]} */
  const found = own ? [resolve(checker, own)] : [];
  ts.forEachChild(node, (child) => {
    found.push(...references(checker, child));
  });
  return found;
}

/**
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} symbol
 */
function resolve(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/**
 * @param {ts.Symbol} symbol
 * @param {Map<string, string>} ours
 */
function isTopLevel(symbol, ours) {
  return (symbol.declarations ?? []).some((it) => {
    const node = ts.isVariableDeclaration(it) ? it.parent.parent : it;
    return ts.isSourceFile(node.parent) && ours.has(node.getSourceFile().fileName);
  });
}

function main() {
  mkdirSync(folder, { recursive: true });
  for (const [entry, text] of apiReports()) writeFileSync(`${folder}${entry}.api.md`, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
