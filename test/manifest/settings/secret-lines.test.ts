import { inspect } from 'node:util';
import { says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { makePlace, manifest } from '../../support/manifest/place.js';

const KEY =
  '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nc2Vjb25kIGxpbmUgb2YgdGhlIGtleQ\n-----END KEY-----\n';
const LINES = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'c2Vjb25kIGxpbmUgb2YgdGhlIGtleQ'];

test.each([
  ['on standard error', 'process.stderr.write("key: " + process.env.KEY); process.exit(1)'],
  ['on standard output', 'process.stdout.write("key: " + process.env.KEY); process.exit(1)'],
  ['with other line ends', 'process.stderr.write(process.env.KEY.replaceAll("\\n", "\\r\\n")); process.exit(1)'],
])('a key of several lines that a server writes %s is logged nowhere', async (_where, code) => {
  const place = makePlace();
  const setting = { name: 'key', description: 'The key.', envVar: 'KEY', sensitive: true };
  const server = { command: process.execPath, args: ['-e', code] };
  place.user('x', manifest('x', { settings: [setting], mcpServers: { s: server } }));
  const own = { model: scriptedModel([says('done')]) };
  const { loader, agent } = await place.load({ env: { ...process.env, KEY } }, own);
  await agent.run('go');

  const told = inspect([place.logger.lines, loader.status(), loader.mcp.status()], { depth: 9, maxStringLength: null });
  expect(told).toContain('[redacted]');
  expect(LINES.filter((line) => told.includes(line))).toEqual([]);
});
