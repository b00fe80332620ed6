// Bundles each entry of the package without the optional peers that it can do without.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries } from '../entries.mjs';
import { request } from './client.mjs';

/** @typedef {import('./project.mjs').Project} Project */

/** The entries that have a peer, which they cannot do without. */
const PEERS = {
  anthropic: '@anthropic-ai/sdk',
  mcp: '@modelcontextprotocol/sdk@1',
  otel: '@opentelemetry/api',
};

const names = readEntries().map(({ name }) => name);

/**
 * Leaves out the peers.
 * @param {Project} project
 * @param {import('./places.mjs').Wanted} wanted
 */
export function installEntries(project, { library: [tarball], packages }) {
  project.install([tarball, ...packages]);
}

/**
 * @param {Project} project
 * @returns {Generator<import('./places.mjs').PlaceServer>}
 */
export function* bundledEntries(project) {
  const withPeer = Object.keys(PEERS);
  const alone = names.filter((name) => !withPeer.includes(name));
  yield* bundles(project, { what: 'no peer', entries: alone });
  project.install(Object.values(PEERS));
  yield* bundles(project, { what: 'its peer', entries: withPeer });
}

/**
 * @param {Project} project
 * @param {{ what: string, entries: readonly string[] }} bundle
 * @returns {Generator<import('./places.mjs').PlaceServer>}
 */
function* bundles(project, { what, entries }) {
  writeEntries(project, entries);
  yield { name: `webpack, ${what}`, command: [], results: { entries: failureOf(() => runBundles(project, entries)) } };
  const name = `turbopack, ${what}`;
  const failure = failureOf(() => project.run(['next', 'build']));
  if (failure !== undefined) yield { name, command: [], results: { entries: failure } };
  else yield { name, command: ['next', 'start', '-p', '$PORT'], check: ({ url }) => readEach(url, entries) };
}

/**
 * @param {Project} project
 * @param {readonly string[]} entries
 */
function writeEntries({ folder }, entries) {
  for (const path of ['entries', 'app/entries', 'out', '.next'])
    rmSync(join(folder, path), { recursive: true, force: true });
  mkdirSync(join(folder, 'entries'));
  for (const entry of entries) {
    const load = `import * as all from '${entry === 'index' ? 'keelson' : `keelson/${entry}`}';`;
    writeFileSync(join(folder, `entries/${entry}.mjs`), `${load}\nconsole.log(Object.keys(all).length);\n`);
    const route = join(folder, 'app/entries', entry);
    mkdirSync(route, { recursive: true });
    writeFileSync(join(route, 'route.js'), `${load}\nexport const POST = () => Response.json(Object.keys(all));\n`);
  }
}

/**
 * @param {Project} project
 * @param {readonly string[]} entries
 */
function runBundles(project, entries) {
  project.run(['webpack', '--mode=production']);
  for (const entry of entries) project.run(['node', `out/${entry}.cjs`]);
}

/**
 * @param {string} url
 * @param {readonly string[]} entries
 */
async function readEach(url, entries) {
  const failed = [];
  for (const entry of entries) {
    const answer = await request(new URL(`/entries/${entry}`, url).href, { body: {} });
    if (answer.status !== 200) failed.push(`${entry}: ${answer.status} ${await answer.whole()}`);
  }
  return { entries: failed.length > 0 ? failed.join(', ') : undefined };
}

/** @param {() => void} step */
function failureOf(step) {
  try {
    step();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
