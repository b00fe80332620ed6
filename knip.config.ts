import { readEntries } from './scripts/entries.mjs';

const others = ['test/**/*.{ts,mjs}', 'examples/**/*.{ts,mjs}', 'bench/**/*.{ts,mjs}', 'scripts/*.mjs'];

export default {
  entry: [...readEntries().map(({ source }) => source), 'src/cli/cli.ts', 'src/page/page.ts', ...others],
  project: ['src/**/*.ts', ...others],
  // Each folder of `test/embed` is a project with packages of its own.
  ignore: ['test/embed/**', 'test/fixtures/opencode/**'],
  // `examples/web` has a package.json of its own.
  ignoreDependencies: [
    '@modelcontextprotocol/server-memory',
    'typescript-oldest',
    'puppeteer-core',
    // `npm run compat` installs these releases.
    'zod-before',
    'zod-oldest',
    // Tests and examples start its program.
    '@restatedev/restate-server',
    '@vitejs/plugin-react',
  ],
  ignoreBinaries: ['kubectl', 'nginx', 'redis-server', 'setsid', 'sha256sum', 'mkfifo', 'script'],
};
