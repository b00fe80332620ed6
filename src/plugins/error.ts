import { describeError, KeelsonError } from '../errors.js';

/** Names a module in error messages: by its package name, if any, and its path. */
interface NamedModule {
  readonly path: string;
  readonly packageName?: string | undefined;
}

/** A plugin module failed to load. None of its plugins is used. */
export class PluginLoadError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_LOAD';
  /** The path of the module. */
  readonly path: string;

  constructor(module: string | NamedModule, problem: string, cause?: unknown) {
    const { path, packageName }: NamedModule = typeof module === 'string' ? { path: module } : module;
    super(`Plugin ${packageName === undefined ? path : `${packageName} (${path})`} is refused: ${problem}`, { cause });
    this.path = path;
  }
}

/** A value is not a valid plugin. */
export class PluginInvalidError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_INVALID';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The plugin is not valid: ${problems.join('; ')}.`);
    this.problems = problems;
  }
}

/** A file found in the workspace is not imported, because its current content was not approved. */
export class PluginUntrustedError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_UNTRUSTED';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path} was found in the workspace and is not loaded: ${problem}`);
    this.path = path;
  }
}

/** A plugin for opencode used a feature that exists only in opencode. */
export class OpencodeUnavailableError extends KeelsonError {
  readonly code = 'ERR_OPENCODE_UNAVAILABLE';

  constructor(member: string) {
    super(
      `\`${member}\` is not available outside of opencode. Remove the call from the plugin, or run the plugin in opencode.`,
    );
  }
}

/** A plugin configuration cannot be read or is invalid. */
export class PluginConfigError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_CONFIG';
  /** The path of the configuration file. */
  readonly path: string;

  constructor(path: string, problem: string, cause?: unknown) {
    super(`Plugin configuration ${path} cannot be used: ${problem}`, { cause });
    this.path = path;
  }
}

/** The name of a plugin or tool is already taken. */
export class PluginConflictError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_CONFLICT';
}

/** esbuild and webpack cannot bundle jiti. */
const INSTALL_JITI = 'run `npm install jiti`, and keep `jiti` external to a bundle';

/** A runtime that strips types refuses only syntax that is more than types, such as enums. */
const OTHER_RUNTIME =
  'typescript' in process.features && process.features.typescript
    ? 'use only TypeScript syntax that can be erased, without enums or namespaces'
    : 'run on Node 22.18 or newer';

/** This runtime cannot import a TypeScript file, and `jiti` is not installed. */
export class TypeScriptUnsupportedError extends KeelsonError {
  readonly code = 'ERR_TYPESCRIPT_UNSUPPORTED';

  constructor(path: string, cause: unknown) {
    super(
      `Node ${process.version} cannot import the TypeScript file ${path} (${describeError(cause)}). ` +
        `Do one of: ${OTHER_RUNTIME}; ${INSTALL_JITI}; or compile the file and name the .mjs file.`,
      { cause },
    );
  }
}

/** An ES module lies in a package of CommonJS modules, and `jiti` is not installed. */
export class ModuleFormatError extends KeelsonError {
  readonly code = 'ERR_MODULE_FORMAT';

  constructor(path: string, cause: unknown) {
    super(
      `${path} is an ES module, or imports one, in a package of CommonJS modules (${describeError(cause)}). ` +
        `Do one of: rename it to .mjs or .mts; set \`"type": "module"\` in the package.json; or ${INSTALL_JITI}.`,
      { cause },
    );
  }
}
