import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lossText, readJson } from '../internal/read-json.js';
import { ModuleFormatError, PluginConfigError, TypeScriptUnsupportedError } from './error.js';

/** Imports a module by the path of its file, such as `(path) => jiti.import(path)`. */
export type ImportModule = (path: string) => Promise<unknown>;

/** What a module exports, by name. */
export type ModuleExports = Readonly<Record<string, unknown>>;

async function importNatively(url: string): Promise<unknown> {
  try {
    // The CommonJS build would make `require` of a plain `import()`, which takes neither URLs nor every ES module.
    return await new Function('specifier', 'return import(specifier)')(url);
  } catch (error) {
    // Some test runners evaluate modules in a way that leaves only their own import; some hosts make no code of texts.
    const isWithout = (error as NodeJS.ErrnoException)?.code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING';
    if (isWithout || error instanceof EvalError) return import(url);
    throw error;
  }
}

/** What Node says of TypeScript that it does not take at all. */
const REFUSED = [
  ...['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX', 'ERR_NO_TYPESCRIPT'],
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
];

/** What it says of TypeScript that is written for a bundler: imports without an end, of a folder, of JSON. */
const UNRESOLVED = ['ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT', 'ERR_IMPORT_ATTRIBUTE_MISSING'];

/** What it says of an ES module in a package that says `"type": "commonjs"`, as `npm init` writes it. */
const MISPLACED =
  /^(?:Unexpected token 'export'|Cannot use (?:import statement|'import\.meta') outside a module|await is only valid)/;

/**
 * Imports a file: by the runtime itself, and what it does not take, such as TypeScript, through `jiti` where that is installed.
 * A second import gives the same module, also where the file has changed.
 */
function importModule(path: string): Promise<unknown> {
  return importAs(path, pathToFileURL(path).href);
}

let imports = 0;

/** Imports a file as it is now, also if it was imported before. The modules that it imports stay as they were. */
export function importAnew(path: string): Promise<unknown> {
  imports += 1;
  // A CommonJS module is kept by its path, an ES module by its URL.
  delete createRequire(path).cache[path];
  return importAs(path, `${pathToFileURL(path).href}?reload=${imports}`);
}

async function importAs(path: string, url: string): Promise<unknown> {
  try {
    return await importNatively(url);
  } catch (error) {
    const { code = '', message = '', name } = (error ?? {}) as NodeJS.ErrnoException;
    const isRefused = REFUSED.includes(code);
    const isMisplaced = name === 'SyntaxError' && MISPLACED.test(message);
    const isHelpless = isRefused || UNRESOLVED.includes(code) || name === 'SyntaxError';
    if (!isMisplaced && !(isHelpless && /\.[cm]?tsx?\b/.test(`${path} ${message}`))) throw error;
    const jiti = await import('jiti').catch(() => undefined);
    // No cache on disk: whoever can write there would choose what is run.
    if (jiti !== undefined)
      return jiti.createJiti(path, { fsCache: false, moduleCache: !url.includes('?reload=') }).import(path);
    if (isMisplaced) throw new ModuleFormatError(path, error);
    throw isRefused ? new TypeScriptUnsupportedError(path, error) : error;
  }
}

/** What a file exports: of JSON its content as the default. */
export async function readExports(path: string, load: ImportModule = importModule): Promise<ModuleExports> {
  if (extname(path) === '.json') return { default: await readJsonFile(path) };
  const exported = await load(path);
  return typeof exported === 'object' && exported !== null ? (exported as ModuleExports) : { default: exported };
}

async function readJsonFile(path: string): Promise<unknown> {
  const read = readJson(await readFile(path, 'utf8'));
  if ('problem' in read) throw new PluginConfigError(path, read.problem);
  const [lost] = read.lost;
  if (lost !== undefined) throw new PluginConfigError(path, lossText(lost));
  return read.value;
}

/** The default export. A module that was compiled to CommonJS has it one level further down, or has none. */
export function defaultOf(exports: ModuleExports): unknown {
  const value = exports.default;
  const isCompiled = typeof value === 'object' && value !== null && '__esModule' in value;
  return isCompiled ? (value as ModuleExports).default : value;
}
