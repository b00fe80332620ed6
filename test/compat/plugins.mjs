// Checks plugins in TypeScript in each runtime. One plugin uses the API of Bun, so its calls give error results
// elsewhere.
import process from 'node:process';
import { Agent } from 'keelson';
import { plugins } from 'keelson/plugins';
import { calls, scriptedModel } from 'keelson/testing';

const get = (resource) => ({ name: 'kubectl_get', input: { resource } });

async function resultsWith(config) {
  const model = scriptedModel([calls(get('pods'), get('secrets')), 'end']);
  const agent = new Agent({ model, loaders: [plugins({ config })] });
  const { text, messages } = await agent.run('go');
  await agent.close();
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return [text, ...results.map(({ content, isError = false }) => [content, isError])];
}

function expected(namespace) {
  if (process.versions.bun === undefined) return ['end', ...Array(2).fill(['Bun is not defined', true])];
  return ['end', [`argv: get pods -n ${namespace}\n`, false], [`argv: get secrets -n ${namespace}\n`, true]];
}

function assertSame(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new TypeError(`unexpected: ${JSON.stringify(found)}`);
}

assertSame(await resultsWith([{ path: './plugins/kubectl.ts' }]), expected('default'));

const lines = [];
const print = console.log;
console.log = (line) => lines.push(line);
assertSame(await resultsWith('./plugins/harbour.plugins.ts'), expected('prod'));
console.log = print;
assertSame(lines.slice(0, 3), [
  '[audit] Tools: kubectl_get',
  '[audit] tool=kubectl_get input={"resource":"pods"}',
  '[audit] tool=kubectl_get input={"resource":"secrets"}',
]);

// Skipped in Deno, which requires file extensions in imports and offers no hook to add them.
if (process.versions.deno === undefined) {
  const model = scriptedModel(['end']);
  const config = [{ path: './plugins/bundled.ts', required: true }];
  await new Agent({ model, loaders: [plugins({ config })] }).run('sailor');
  assertSame(model.requests[0].messages[0].content, 'Ahoy, sailor');
}
console.log(`plugins in TypeScript work${process.versions.bun ? ', and run kubectl' : ''}`);
