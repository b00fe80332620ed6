import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { readEntries } from './scripts/entries.mjs';
import { SOURCE, sourceModule } from './scripts/source-module.js';

const alias = readEntries().map(({ specifier, source }) => ({
  find: new RegExp(`^${specifier}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}));

const TEMPORARY_HOME = 'test/support/home/temporary-home.ts';
const GUARD_HOME = 'test/support/home/guard-home.ts';
const LOAD_LAZY_CORE = 'test/support/home/load-lazy-core.ts';
const COLLECT_OPTION_ERRORS = 'test/support/docs/collect-option-errors.ts';

/** Test files with a process of their own, because they replace timers or modules of Node, or measure the process. */
const ALONE = [
  ...['agent/**/{close-on-frozen-clock,determinism}', 'concepts/time-limits', 'docs/limits', 'internal/clock'],
  ...[
    'mcp/{connection/connecting,server/hostile-server}',
    'plugins/hooks/lifecycles',
    'process/{process-group,run-process}',
  ],
  ...['real-home', 'shell-hooks/run/{process,process-queue,resources}'],
  ...['trust/approvals/stored-file', 'trust/fingerprint/{bound-files,snapshot}'],
].map((path) => `test/${path}.test.ts`);

/** Tests that need the built library, or that compile. `npm run check` runs them, and `npm test` does not. */
const PACKAGE = ['test/package/**/*.test.ts', 'test/examples/{demo,durable-demo,examples,host}.test.ts'];
/** Long tests, which only `npm run soak` runs. */
const SOAK = ['test/soak/**/*.test.ts'];

/** Tests of connections to MCP servers, which also run over `@modelcontextprotocol/sdk` 1.x. */
const OLD_SDK = [
  'test/mcp/{connection/{first-failures,questions,time-limits},who-reads-what}.test.ts',
  'test/mcp/transport/{authorization,hostile-http,sse-transport,streamable-transport}.test.ts',
];
const WITHOUT_NEW_SDK = {
  find: /^@modelcontextprotocol\/client$/,
  replacement: fileURLToPath(new URL('test/support/mcp/no-package.ts', import.meta.url)),
};

const unit = { globalSetup: TEMPORARY_HOME, setupFiles: [GUARD_HOME, COLLECT_OPTION_ERRORS, LOAD_LAZY_CORE] };
const projects = {
  alone: { ...unit, include: ALONE },
  // The files of a worker share loaded modules. This halves their run time.
  sharing: {
    ...unit,
    include: ['test/**/*.test.ts'],
    exclude: [...ALONE, ...PACKAGE, ...SOAK],
    isolate: false,
  },
  package: {
    include: PACKAGE,
    globalSetup: [TEMPORARY_HOME, 'test/support/package/packed-library.ts'],
    setupFiles: GUARD_HOME,
    isolate: false,
    // These tests start compilers, servers and many programs, beside the other checks.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
  // The same tests with the older SDK of MCP alone.
  'old-sdk': { ...unit, include: OLD_SDK, isolate: false },
  soak: { ...unit, include: SOAK, testTimeout: 600_000 },
} satisfies Record<string, TestProjectInlineConfiguration['test']>;

/** Bundles programs of other threads and of pages once. Each process of a test would start esbuild otherwise. */
const programsInStrings = {
  name: 'programs-in-strings',
  load: (path: string) => (SOURCE.test(path) ? sourceModule(path) : undefined),
};

export default defineConfig(({ mode }) => ({
  resolve: { alias },
  plugins: [programsInStrings],
  test: {
    reporters: ['default', './test/support/plain-line-reporter.ts'],
    // Many tests spend time waiting for a process, so it takes four workers to keep two cores busy.
    maxWorkers: 4,
    // A busy machine needs seconds to start a program or a server.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    coverage: {
      include: ['src/**/*.ts'],
      // Node 20 cannot run the SQLite stores. `npm run compat` tests them.
      exclude: process.versions.node.startsWith('20.') ? ['src/stores/sqlite/**'] : [],
      reporter: ['text-summary'],
      thresholds: { lines: 95, functions: 95, statements: 95, branches: 90 },
    },
    projects: Object.entries(projects)
      .filter(([name]) => (name === 'soak') === (mode === 'soak'))
      .map(([name, test]) => ({
        extends: true as const,
        resolve: { alias: name === 'old-sdk' ? [WITHOUT_NEW_SDK] : [] },
        test: { name, ...test },
      })),
  },
}));
