import { describeError, KeelsonError } from '../errors.js';

/** A module, as errors name it: by its package, if it has one, and by its path. */
interface NamedModule {
  readonly path: string;
  readonly packageName?: string | undefined;
}

/** A plugin module was refused. Nothing of it is in use. */
export class PluginLoadError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_LOAD';
  /** The module's file. */
  readonly path: string;

  constructor(module: string | NamedModule, problem: string, cause?: unknown) {
    const { path, packageName }: NamedModule = typeof module === 'string' ? { path: module } : module;
    super(`Plugin ${packageName === undefined ? path : `${packageName} (${path})`} is refused: ${problem}`, { cause });
    this.path = path;
  }
}

/** A value is no plugin. */
export class PluginInvalidError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_INVALID';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The plugin is not valid: ${problems.join('; ')}.`);
    this.problems = problems;
  }
}

/** What was found in the workspace may not be imported: nobody approved its content. */
export class PluginUntrustedError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_UNTRUSTED';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path} was found in the workspace and is not loaded: ${problem}`);
    this.path = path;
  }
}

/** A plugin for opencode wanted something that there is only in opencode. */
export class OpencodeUnavailableError extends KeelsonError {
  readonly code = 'ERR_OPENCODE_UNAVAILABLE';

  constructor(member: string) {
    super(`\`${member}\` is not available: this plugin was written for opencode, and does not run in it.`);
  }
}

/** A configuration of plugins cannot be read, or is none. */
export class PluginConfigError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_CONFIG';
  /** The file. */
  readonly path: string;

  constructor(path: string, problem: string, cause?: unknown) {
    super(`Plugin configuration ${path} cannot be used: ${problem}`, { cause });
    this.path = path;
  }
}

/** A plugin, or a tool, has a name that is taken. */
export class PluginConflictError extends KeelsonError {
  readonly code = 'ERR_PLUGIN_CONFLICT';
}

/** Where types are stripped, what is refused is more than types. */
const OTHER_RUNTIME =
  'typescript' in process.features && process.features.typescript
    ? 'leave out what is more than types'
    : 'run on Node 22.18 or newer';

/** This runtime does not import the TypeScript in a file, and there is no `jiti`. */
export class TypeScriptUnsupportedError extends KeelsonError {
  readonly code = 'ERR_TYPESCRIPT_UNSUPPORTED';

  constructor(path: string, cause: unknown) {
    super(
      `${path} is TypeScript, which ${process.version} does not import (${describeError(cause)}). ` +
        `There are three ways out: ${OTHER_RUNTIME}; \`npm install jiti\`; or compile the file and name the .mjs.`,
      { cause },
    );
  }
}

/** A file, or one that it imports, is an ES module in a package of CommonJS modules, and there is no `jiti`. */
export class ModuleFormatError extends KeelsonError {
  readonly code = 'ERR_MODULE_FORMAT';

  constructor(path: string, cause: unknown) {
    super(
      `${path} is an ES module, or imports one, in a package of CommonJS modules (${describeError(cause)}). ` +
        'There are three ways out: name it .mjs or .mts; say `"type": "module"` in the package.json; or `npm install jiti`.',
      { cause },
    );
  }
}
