import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Entry
 * @property {string} name the file name in dist, without extension
 * @property {string} specifier the import path for users
 * @property {string} source the source file in src
 */

/**
 * Returns the entry points of the package. They are listed in tsconfig.json, because examples and tests import them by
 * name. The build and knip read them from there, and a test compares package.json and typedoc.json with that list.
 * @returns {Entry[]}
 */
export function readEntries() {
  const { compilerOptions } = JSON.parse(readFileSync(new URL('../tsconfig.json', import.meta.url), 'utf8'));
  return Object.entries(compilerOptions.paths).map(([specifier, [source]]) => ({
    name: specifier === 'keelson' ? 'index' : specifier.slice('keelson/'.length),
    specifier,
    source: source.replace('./', ''),
  }));
}

/** The modules that the core loads with `import()` on first use, by their file name in dist. */
export const LAZY_CORE = {
  'json-schema-check': 'src/tools/json-schema-check.ts',
  'agent-session': 'src/agent/session/agent-session.ts',
  'session-list': 'src/state/session-list.ts',
  'run-loader': 'src/agent/run-loader.ts',
  'resume-run': 'src/agent/run/resume/resume-run.ts',
  'hand-over': 'src/agent/handoff/hand-over.ts',
  'check-output': 'src/agent/run/output/check-output.ts',
  'received-args': 'src/tools/received-args.ts',
  'partial-output': 'src/agent/run/output/partial-output.ts',
  recover: 'src/agent/run/turn/recover.ts',
  'limited-call': 'src/agent/run/turn/limited-call.ts',
  'cache-miss': 'src/agent/run/turn/cache-miss.ts',
};
