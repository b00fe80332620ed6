import { join } from 'node:path';
import { Agent } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { write } from '../support/process/scratch.js';
import { ground } from '../support/runtime/ground.js';

const tool = (name: string) =>
  `{ name: '${name}', description: 'd', inputSchema: { type: 'object' }, execute: () => ({ content: 'x' }) }`;

/** Writes plugins with the given hooks, and returns the names of the tools in each of two runs. */
async function toolsOf(...hooks: readonly string[]) {
  const { load, cwd } = ground();
  const paths = hooks.map((members, at) => {
    write(join(cwd, `p${at}.mjs`), `let kept;\nexport default { name: 'p${at}', hooks: { ${members} } };\n`);
    return { path: `./p${at}.mjs` };
  });
  write(join(cwd, 'app.plugins.mjs'), `export default { plugins: ${JSON.stringify(paths)} };\n`);
  const runtime = await load({ approve: () => true, hooks: false, manifests: { autoEnable: false } });
  const model = scriptedModel(['a', 'b', 'c']);
  const agent = new Agent({ model, ...runtime.agentOptions() });
  for (const _run of [1, 2]) await agent.run('go');
  const names = () => model.requests.map(({ tools }) => tools.map(({ name }) => name).filter((it) => /^t/.test(it)));
  return { names, agent, runtime, cwd };
}

test('a tool that a plugin of a runtime registers after loading is offered from the next run on, until a reload', async () => {
  const register = `onInit({ toolRegistry }) { kept = toolRegistry; },
    beforeMessage(message) { if (!kept.list().includes('t1')) kept.register(${tool('t1')}); return message; }`;
  const { names, agent, runtime, cwd } = await toolsOf(register);

  expect(names()).toEqual([[], ['t1']]);

  write(join(cwd, 'p0.mjs'), `export default { name: 'p0' };\n`);
  await runtime.reload();
  await agent.run('go');

  expect(names()).toEqual([[], ['t1'], []]);
  await agent.close();
});

test('a plugin that a reload has replaced adds no more tools', async () => {
  const register = `onInit({ toolRegistry }) { kept = toolRegistry; },
    afterMessage(message) { if (!kept.list().includes('t1')) kept.register(${tool('t1')}); return message; }`;
  const { load, cwd } = ground();
  write(join(cwd, 'p0.mjs'), `let kept;\nexport default { name: 'p0', hooks: { ${register} } };\n`);
  write(join(cwd, 'app.plugins.mjs'), `export default { plugins: [{ path: './p0.mjs' }] };\n`);
  const runtime = await load({ approve: () => true, hooks: false, manifests: { autoEnable: false } });
  const model = scriptedModel([
    async () => {
      write(join(cwd, 'p0.mjs'), `export default { name: 'p0' };\n`);
      await runtime.reload();
      return 'a';
    },
    'b',
  ]);
  const agent = new Agent({ model, ...runtime.agentOptions() });

  await agent.run('go');
  await agent.run('go');

  expect(model.requests.at(-1)?.tools.map(({ name }) => name)).not.toContain('t1');
  await agent.close();
});

test('plugins of a runtime see the tools that earlier plugins register in onInit', async () => {
  const { names, agent, runtime } = await toolsOf(
    `onInit({ toolRegistry }) { toolRegistry.register(${tool('t1')}); }`,
    `onInit({ toolRegistry }) { toolRegistry.register(${tool('t1')}); }`,
    `onInit({ toolRegistry }) { toolRegistry.register(${tool('t2')}); throw new Error('no'); }`,
  );

  expect(names()).toEqual([['t1'], ['t1']]);
  expect(runtime.status().plugins).toMatchObject({
    plugins: [{ name: 'p0' }],
    failures: [expect.stringContaining('has a tool of this name'), expect.stringContaining('no')],
  });
  await agent.close();
});
