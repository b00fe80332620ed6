import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lossText, readJson } from '../internal/read-json.js';
import { ModuleFormatError, PluginConfigError, TypeScriptUnsupportedError } from './error.js';

/** Imports a module by the path of its file, such as `(path) => jiti.import(path)`. */
export type ImportModule = (path: string) => Promise<unknown>;

/** The exports of a module, by name. */
export type ModuleExports = Readonly<Record<string, unknown>>;

async function importNatively(url: string): Promise<unknown> {
  try {
    // The CommonJS build would compile a plain `import()` to `require`, which accepts no URLs and not every ES module.
    return await new Function('specifier', 'return import(specifier)')(url);
  } catch (error) {
    // Some test runners support only their own `import()`. Some hosts forbid code from strings.
    const isUnsupported = (error as NodeJS.ErrnoException)?.code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING';
    if (isUnsupported || error instanceof EvalError)
      return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ url);
    throw error;
  }
}

/** Error codes of Node for TypeScript that it cannot load. */
const REFUSED = [
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_NO_TYPESCRIPT',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
];

/**
 * Error codes of Node for TypeScript written for a bundler: imports without a file extension, of a directory, or of
 * JSON.
 */
const UNRESOLVED = ['ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT', 'ERR_IMPORT_ATTRIBUTE_MISSING'];

/** Errors of Node for an ES module in a package with `"type": "commonjs"`, the default of `npm init`. */
const MISPLACED =
  /^(?:Unexpected token 'export'|Cannot use (?:import statement|'import\.meta') outside a module|await is only valid)/;

/**
 * Imports a file. A file that the runtime cannot load, such as some TypeScript, is loaded with `jiti` if that package
 * is installed. A second import returns the cached module, even if the file has changed.
 */
function importModule(path: string): Promise<unknown> {
  return importAs(path, pathToFileURL(path).href);
}

let imports = 0;

/**
 * Imports the current version of a file, even if it was imported before. The modules that the file imports stay cached.
 */
export function importAnew(path: string): Promise<unknown> {
  imports += 1;
  // Node caches CommonJS modules by path and ES modules by URL. webpack would replace an imported `createRequire`.
  delete process.getBuiltinModule('node:module').createRequire(path).cache[path];
  return importAs(path, `${pathToFileURL(path).href}?reload=${imports}`);
}

async function importAs(path: string, url: string): Promise<unknown> {
  try {
    return await importNatively(url);
  } catch (error) {
    const { code = '', message = '', name } = (error ?? {}) as NodeJS.ErrnoException;
    const isRefused = REFUSED.includes(code);
    const isMisplaced = name === 'SyntaxError' && MISPLACED.test(message);
    const mayNeedJiti = isRefused || UNRESOLVED.includes(code) || name === 'SyntaxError';
    if (!isMisplaced && !(mayNeedJiti && /\.[cm]?tsx?\b/.test(`${path} ${message}`))) throw error;
    const jiti = await loadJiti();
    // `jiti` gets no cache on disk, because anyone who can write to the cache could choose the code that runs.
    if (jiti !== undefined)
      return jiti.createJiti(path, { fsCache: false, moduleCache: !url.includes('?reload=') }).import(path);
    if (isMisplaced) throw new ModuleFormatError(path, error);
    throw isRefused ? new TypeScriptUnsupportedError(path, error) : error;
  }
}

async function loadJiti() {
  try {
    return await import('jiti');
  } catch {
    return undefined;
  }
}

/** Returns the exports of a file. The content of a JSON file is its default export. */
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

/** Returns the default export. In a module compiled to CommonJS it is `default.default`. */
export function defaultOf(exports: ModuleExports): unknown {
  const value = exports.default;
  const isCompiled = typeof value === 'object' && value !== null && '__esModule' in value;
  return isCompiled ? (value as ModuleExports).default : value;
}
