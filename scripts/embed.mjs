// npm run embed: installs the packed package in other people's frameworks, runtimes and bundlers, and checks a chat in each.
//   npm run embed -- next hono
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkPlace, columns } from './embed/check.mjs';
import { pageColumns } from './embed/page.mjs';
import { places } from './embed/places.mjs';
import { Project } from './embed/project.mjs';
import { startServices } from './embed/services.mjs';
import { pack } from './packed-project.mjs';

/** Each place installs it beside its own packages. */
const PEERS = ['@modelcontextprotocol/sdk@1'];

/** The programs send nothing to their authors. They have no home directory, so they get the registry of npm. */
const REGISTRY = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const QUIET = {
  npm_config_registry: REGISTRY,
  YARN_NPM_REGISTRY_SERVER: REGISTRY,
  YARN_UNSAFE_HTTP_WHITELIST: new URL(REGISTRY).hostname,
  YARN_ENABLE_TELEMETRY: '0',
  NEXT_TELEMETRY_DISABLED: '1',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  DO_NOT_TRACK: '1',
};

/** @typedef {import('./embed/check.mjs').Results} Results */
/** @typedef {{ name: string, version: string, results: Results }} Row */

const { values, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true });

async function main() {
  const names = positionals.length > 0 ? positionals : Object.keys(places);
  const unknown = names.filter((name) => !(name in places));
  if (unknown.length > 0)
    throw new TypeError(`unknown places: ${unknown}; known are ${Object.keys(places).join(', ')}`);
  const root = mkdtempSync(join(tmpdir(), 'keelson-embed-'));
  process.once('exit', () => (values.keep ? console.log(root) : rmSync(root, { recursive: true, force: true })));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const services = await startServices();
  /** @type {Row[]} */
  const rows = [];
  try {
    const tarball = pack(root);
    for (const name of names) rows.push(...(await visit(name, { root, tarball, services })));
  } finally {
    services.close();
  }
  report(rows);
}

/**
 * Installs a place, and checks its servers.
 * @param {string} name
 * @param {{ root: string, tarball: string, services: import('./embed/services.mjs').Services }} setting
 */
async function visit(name, { root, tarball, services }) {
  /** @type {Row[]} */
  const rows = [];
  const place = places[name];
  if (place === undefined) return rows;
  const project = new Project(place.source ?? name, { root, env: { ...QUIET, HOME: root, SERVICES: services.url } });
  try {
    const { packages, install = installAll } = place;
    install(project, { library: [tarball, ...PEERS], packages });
    const version = packages.map((spec) => shownVersion(project, spec)).join(' ');
    for (const server of place.servers(project)) {
      const results = await checkServer(project, server, services);
      rows.push(print({ name: [name, server.name].filter(Boolean).join(': '), version, results }));
    }
  } catch (error) {
    rows.push(print({ name, version: '', results: { install: String(error) } }));
  }
  return rows;
}

/**
 * @param {Project} project
 * @param {import('./embed/places.mjs').Wanted} wanted
 */
function installAll(project, { library, packages }) {
  project.install([...library, ...packages]);
}

/**
 * @param {Project} project
 * @param {import('./embed/places.mjs').PlaceServer} server
 * @param {import('./embed/services.mjs').Services} services
 * @returns {Promise<Results>}
 */
async function checkServer(project, server, services) {
  const { results: known, without, check = checkPlace } = server;
  if (known !== undefined) return known;
  const started = await project.start(server).catch((error) => String(error));
  if (typeof started === 'string') return { start: started };
  try {
    const results = await check({ url: started.url, services, without });
    if (hasFailed(results)) console.log(started.output().trim().slice(-2_000));
    return results;
  } finally {
    await started.stop();
  }
}

/** @param {Results} results */
function hasFailed(results) {
  return Object.values(results).some((failure) => failure !== undefined);
}

/**
 * @param {Project} project
 * @param {string} spec such as `hono@4`
 */
function shownVersion(project, spec) {
  const name = spec.replace(/(?<=.)@.*$/, '');
  return `${name}@${project.version(name)}`;
}

/** @param {Row} row */
function print(row) {
  console.log(`${hasFailed(row.results) ? '✗' : '✓'} ${row.name}`);
  for (const [step, failure] of Object.entries(row.results)) if (failure) console.log(`  ${step}: ${failure}`);
  return row;
}

/** @param {Row[]} rows */
function report(rows) {
  const all = [...columns, ...pageColumns, 'entries'];
  console.log(
    `\nNode ${process.version}, peers ${PEERS.join(' ')}\n\n| place | ${all.join(' | ')} | versions |\n|---|${all.map(() => '---|').join('')}---|`,
  );
  for (const { name, results, version } of rows) {
    const cells = all.map((column) => cellOf(results, column));
    console.log(`| ${name} | ${cells.join(' | ')} | ${version} |`);
  }
  if (rows.some(({ results }) => hasFailed(results))) process.exitCode = 1;
}

/**
 * @param {Results} results
 * @param {string} column
 */
function cellOf(results, column) {
  if (['install', 'build', 'start'].some((step) => step in results)) return '✗';
  if (!(column in results)) return '–';
  return results[column] === undefined ? '✓' : '✗';
}

await main();
