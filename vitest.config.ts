import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { readEntries } from './scripts/entries.mjs';

const alias = readEntries().map(({ specifier, source }) => ({
  find: new RegExp(`^${specifier}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}));

const TEMPORARY_HOME = 'test/support/home/temporary-home.ts';
const GUARD_HOME = 'test/support/home/guard-home.ts';
const SET_UP = [GUARD_HOME, 'test/support/docs/collect-option-errors.ts'];

/** Test files that replace or observe timers. They do not share modules, because a timer of another file would disturb them. */
const WITH_TIMERS = ['clock', 'close-on-frozen-clock', 'determinism', 'time-limits'];

/**
 * Test files that do not change process-wide state, such as variables of the environment, run without isolation: the files
 * of a worker share loaded modules. This halves their run time.
 */
const SHARING = [
  ...['agent', 'concepts', 'extension', 'internal', 'lifecycle', 'lifecycles', 'model'],
  ...['providers', 'skills', 'state', 'telemetry', 'testing', 'tools', 'ui'],
].map((folder) => `test/${folder}/**/!(${WITH_TIMERS.join('|')}).test.ts`);

export default defineConfig(({ mode }) => ({
  resolve: { alias },
  test: {
    reporters: ['default', './test/support/plain-line-reporter.ts'],
    env: mode === 'soak' ? { KEELSON_SOAK: '1' } : {},
    maxWorkers: 2,
    testTimeout: mode === 'soak' ? 600_000 : 10_000,
    // A PostgreSQL server needs seconds to start on a busy machine.
    hookTimeout: 60_000,
    coverage: {
      include: ['src/**/*.ts'],
      // Node 20 cannot run the SQLite stores. `npm run compat` tests them.
      exclude: process.versions.node.startsWith('20.') ? ['src/stores/sqlite/**'] : [],
      reporter: ['text-summary'],
      thresholds: { lines: 95, functions: 95, statements: 95, branches: 90 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/package/**', ...SHARING],
          globalSetup: TEMPORARY_HOME,
          setupFiles: SET_UP,
        },
      },
      {
        extends: true,
        test: {
          name: 'sharing',
          include: SHARING,
          isolate: false,
          globalSetup: TEMPORARY_HOME,
          setupFiles: SET_UP,
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          globalSetup: [TEMPORARY_HOME, 'test/support/ensure-built.ts'],
          setupFiles: GUARD_HOME,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
}));
