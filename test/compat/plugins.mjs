// A plugin in TypeScript in any runtime. It was written for Bun: elsewhere its calls are error results.
import process from 'node:process';
import { Agent } from 'keelson';
import { plugins } from 'keelson/plugins';
import { calls, scriptedModel } from 'keelson/testing';

const get = (resource) => ({ name: 'kubectl_get', input: { resource } });

async function resultsWith(options) {
  const model = scriptedModel([calls(get('pods'), get('secrets')), 'end']);
  const config = [{ path: './plugins/kubectl.ts', ...(options && { options }) }];
  const agent = new Agent({ model, loaders: [plugins({ config })] });
  const { text, messages } = await agent.run('go');
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return JSON.stringify([text, ...results.map(({ content, isError = false }) => [content, isError])]);
}

function expected(namespace) {
  if (process.versions.bun === undefined) return ['end', ...Array(2).fill(['Bun is not defined', true])];
  return ['end', [`argv: get pods -n ${namespace}\n`, false], [`argv: get secrets -n ${namespace}\n`, true]];
}

for (const [options, namespace] of [
  [{ namespace: 'prod' }, 'prod'],
  [undefined, 'default'],
]) {
  const found = await resultsWith(options);
  if (found !== JSON.stringify(expected(namespace))) throw new TypeError(`unexpected: ${found}`);
}
console.log('a plugin in TypeScript works');
