import { execFile } from 'node:child_process';
import { copyFile, readFile, rm } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin, type PluginBuild } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
import { LAZY_CORE, readEntries } from './scripts/entries.mjs';
import { SOURCE, sourceModule } from './scripts/source-module.js';

const CORE = resolve('src/index.ts');
const UI = resolve('src/ui/ui.ts');
/** Exists as ESM only, which Jest cannot require. Bundled, because its import takes longer than its code. */
const ESM_ONLY = 'p-timeout';
/** Exists as CommonJS only, with an ESM wrapper. Importing both takes 10 ms. */
const COMMONJS_ONLY = 'eventemitter3';
const entries = {
  ...Object.fromEntries(readEntries().map(({ name, source }) => [name, source])),
  ...LAZY_CORE,
  cli: 'src/cli/cli.ts',
};
const declarations = Object.fromEntries(
  Object.entries(entries).map(([name, source]) => [name, source.replace(/^src(.*)ts$/, 'dist/declarations$1d.ts')]),
);

const shared = {
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // A module that needs its own path uses `__filename` in CommonJS.
  esbuildOptions(options, { format }) {
    if (format === 'cjs') options.define = { ...options.define, 'import.meta.url': 'undefined' };
  },
  // Also for CommonJS: without shared chunks, each entry would have its own copy of every error class.
  splitting: true,
  external: [/^node:/],
  noExternal: [ESM_ONLY, COMMONJS_ONLY],
} satisfies Options;

/**
 * Two builds: shared chunks alone would split the core into many small files, and each file takes time to import. See
 * docs/decisions/0011-core-in-one-file.md.
 */
export default defineConfig(async () => {
  await rm('dist', { recursive: true, force: true });
  const [core] = await Promise.all([modulesOfCore(), emitDeclarations()]);
  return [
    { ...shared, entry: { core: CORE }, esbuildPlugins: [coreInOneFile(core), namedErrors(core), ...inOneFormat()] },
    {
      ...shared,
      entry: entries,
      dts: { entry: declarations },
      esbuildPlugins: [coreFromItsFile(core), programsInStrings(), namedErrors(core), ...inOneFormat()],
      onSuccess: copyFiles,
    },
  ];
});

/**
 * The compiler writes one declaration file per module, and the bundler joins these files. If the bundler made them itself, a
 * build would take four times as long. `scripts/build.mjs` removes the files.
 */
function emitDeclarations(): Promise<unknown> {
  return promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.declarations.json']);
}

async function copyFiles(): Promise<void> {
  // Editors read the schema of manifests from the package.
  await copyFile('docs/manifest.schema.json', 'dist/manifest.schema.json');
  await copyFile(`node_modules/${ESM_ONLY}/license`, `dist/${licenceOf(ESM_ONLY)}`);
  await copyFile(`node_modules/${COMMONJS_ONLY}/LICENSE`, `dist/${licenceOf(COMMONJS_ONLY)}`);
}

/**
 * Returns the modules whose code loads with the root entry: not modules of types, and none behind an `import()`.
 */
async function modulesOfCore(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [CORE],
    bundle: true,
    format: 'esm',
    packages: 'external',
    outdir: 'dist',
    write: false,
    metafile: true,
  });
  const loaded = new Set([relative('.', CORE)]);
  for (const path of loaded) {
    const imports = metafile.inputs[path]?.imports ?? [];
    for (const { kind, path, external } of imports) if (kind !== 'dynamic-import' && !external) loaded.add(path);
  }
  return [...loaded].map((path) => resolve(path)).filter((path) => path !== CORE);
}

/** Puts the core into one file that exports its modules to the other entries, except those behind an `import()`. */
function coreInOneFile(core: readonly string[]): Plugin {
  return {
    name: 'core-in-one-file',
    setup(builder) {
      // A name that two modules export would be left out.
      builder.initialOptions.logOverride = { 'ambiguous-reexport': 'error' };
      const lines = core.map((path) => `export * from './${relative(resolve('src'), path)}';`);
      builder.onLoad({ filter: /src\/index\.ts$/ }, () => ({ contents: lines.join('\n'), loader: 'ts' }));
      builder.onResolve({ filter: /^\./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? besides(builder, basename(path, '.js')) : undefined,
      );
    },
  };
}

/** Makes the other entries import modules of the core from the core's file, so that each class exists once. */
function coreFromItsFile(core: readonly string[]): Plugin {
  const modules = new Set(core);
  return {
    name: 'core-from-its-file',
    setup(builder) {
      builder.onResolve({ filter: /^\./ }, ({ path, resolveDir }) =>
        modules.has(resolve(resolveDir, path.replace(/\.js$/, '.ts'))) ? besides(builder, 'core') : undefined,
      );
    },
  };
}

/**
 * Adds a static `name` to error classes. A bundler that minifies renames classes, and `error.name` would be a random
 * letter. In the core, where size counts, only classes that a user can import get it.
 */
function namedErrors(core: readonly string[]): Plugin {
  const classes = /^export (?:abstract )?class (\w+Error)\b.*\{$/gm;
  return {
    name: 'named-errors',
    setup(builder) {
      builder.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
        const [text = '', ...entries] = await Promise.all([path, CORE, UI].map((file) => readFile(file, 'utf8')));
        const isNamed = (name: string) =>
          !core.includes(path) || new RegExp(`(?<!type )\\b${name}\\b`).test(entries.join());
        const contents = text.replaceAll(classes, (line, name) =>
          isNamed(name) ? `${line}\n  static get name() { return '${name}'; }` : line,
        );
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** Bundles programs of other threads and of pages now, because esbuild is not installed beside the package. */
function programsInStrings(): Plugin {
  return {
    name: 'programs-in-strings',
    setup(builder) {
      builder.onLoad({ filter: SOURCE }, async ({ path }) => ({ contents: await sourceModule(path), loader: 'ts' }));
    },
  };
}

/** Bundles the dependencies that exist in one format only. Their licences are copied too. */
function inOneFormat(): Plugin[] {
  const asEsm = (text: string) =>
    text.replace(/^if \('undefined' !== typeof module\) \{[^}]*\}/m, 'export { EventEmitter };');
  return [bundled(ESM_ONLY), bundled(COMMONJS_ONLY, { into: '.js', change: asEsm })];
}

interface Bundled {
  /** Default: both formats. */
  readonly into?: '.cjs' | '.js';
  readonly change?: (text: string) => string;
}

function bundled(name: string, { into, change = (text) => text }: Bundled = {}): Plugin {
  const source = resolve('node_modules', name, 'index.js');
  return {
    name: `bundled-${name}`,
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${name}$`) }, () =>
        into === undefined || endingOf(builder) === into ? { path: source } : { path: name, external: true },
      );
      builder.onLoad({ filter: new RegExp(`/${name}/index\\.js$`) }, async ({ path }) => ({
        contents: `/*! ${licenceOf(name)} */\n${change(await readFile(path, 'utf8'))}`,
        loader: 'js',
      }));
    },
  };
}

/** The licence is a file of its own, because its text would add 2.5 % to the core. */
function licenceOf(name: string): string {
  return `${name}.LICENSE`;
}

/** Returns the external path of a file of the same build, with the file extension of the current format. */
function besides(builder: PluginBuild, name: string) {
  return { path: `./${name}${endingOf(builder)}`, external: true };
}

/** Returns the extension of the written files. tsup builds both formats as ESM and converts one to CommonJS later. */
function endingOf({ initialOptions }: PluginBuild): string {
  return initialOptions.outExtension?.['.js'] ?? '.js';
}
