// Two plugins from a configuration file: one that looks on, and one that brings a tool.
import assert from 'node:assert/strict';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from 'keelson';
import { plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';

// A script stands for kubectl: it says how it was called, and fails for secrets.
process.env.PATH = fileURLToPath(new URL('./plugins/bin', import.meta.url)) + delimiter + process.env.PATH;

const lines: string[] = [];
const print = console.log;
console.log = (line: string) => {
  lines.push(line);
  print(line);
};

const config = fileURLToPath(new URL('plugins/harbour.plugins.ts', import.meta.url));
const model = scriptedModel([
  calls('kubectl_get', { resource: 'pods' }),
  calls('kubectl_get', { resource: 'secrets' }),
  calls('kubectl_get', {}),
  says('The pods are there, the secrets are not for me.'),
]);

await using agent = new Agent({ model, loaders: [plugins({ config })] });
const { text, messages } = await agent.run('What runs in the harbour?');
print(text);

const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
assert.deepEqual(
  results.map(({ isError = false }) => isError),
  [false, true, true],
);
assert.equal(results[0]?.content, 'argv: get pods -n prod\n');
assert.deepEqual(lines, [
  '[audit] Tools: kubectl_get',
  '[audit] tool=kubectl_get input={"resource":"pods"}',
  '[audit] tool=kubectl_get error=false',
  '[audit] tool=kubectl_get input={"resource":"secrets"}',
  '[audit] tool=kubectl_get error=true',
  '[audit] tool=kubectl_get input={}',
  '[audit] tool=kubectl_get error=true',
]);
