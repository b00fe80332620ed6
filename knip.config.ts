import { readEntries } from './scripts/entries.mjs';

const others = ['test/**/*.{ts,mjs}', 'examples/**/*.{ts,mjs}', 'bench/**/*.{ts,mjs}', 'scripts/*.mjs'];

export default {
  entry: [...readEntries().map(({ source }) => source), ...others],
  project: ['src/**/*.ts', ...others],
  ignore: ['test/fixtures/opencode/**'],
  ignoreDependencies: ['@modelcontextprotocol/server-memory', 'typescript-oldest'],
  ignoreBinaries: ['kubectl', 'redis-server', 'setsid', 'sha256sum', 'mkfifo', 'script'],
};
