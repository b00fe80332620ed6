import { join } from 'node:path';
import { Agent, defineTool } from 'keelson';
import { loadRuntime, type Runtime, type RuntimeOptions } from 'keelson/runtime';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { scratchFolder, write } from '../support/process/scratch.js';

/** A guard that allows each call while the runtime is open. */
const guard = { name: 'guard', command: 'true', onFailure: 'block' };

interface Files {
  readonly user?: object;
  readonly workspace?: object;
  readonly extension?: object;
}

/** Loads a runtime with hooks in the given places, and returns how often its agents have called their tool. */
async function ground({ user = {}, workspace = {}, extension = {} }: Files, options: RuntimeOptions = {}) {
  const [userDir, cwd, logger] = [join(scratchFolder(), '.app'), scratchFolder(), keepingLogger()];
  const manifest = { name: 'whole', version: '1.0.0', description: 'd', hooks: extension };
  write(join(userDir, 'extensions/whole/manifest.json'), JSON.stringify(manifest));
  write(join(userDir, 'hooks.json'), JSON.stringify({ hooks: user }));
  write(join(cwd, '.app/hooks.json'), JSON.stringify({ hooks: workspace }));
  const runtime = await loadRuntime({ appName: 'app', cwd, userDir, logger, plugins: false, ...options });
  let runs = 0;
  const erase = defineTool({ name: 'erase', description: 'e', input: { type: 'object' }, execute: () => `${++runs}` });
  const agentOf = (agentOptions: ReturnType<Runtime['agentOptions']>) =>
    new Agent({ model: scriptedModel([calls('erase', {}), says('done')]), tools: [erase], ...agentOptions });
  return { runtime, agentOf, logger, place: { cwd, userDir }, runs: () => runs };
}

test.each([
  ['a hook file', { user: { before_tool: [guard] } }],
  ['an extension', { extension: { before_tool: [guard] } }],
])(
  'a guard of %s refuses after its runtime is closed, in a run under way, a session and new agents',
  async (_, files) => {
    const { runtime, agentOf, logger, runs } = await ground(files);
    const [open, inSession, late] = [
      agentOf(runtime.agentOptions()),
      agentOf(runtime.agentOptions()),
      runtime.agentOptions(),
    ];
    const session = await inSession.session({ id: 's' });
    const closing = scriptedModel([
      async () => {
        await runtime.close();
        return calls('erase', {});
      },
      says('done'),
    ]);

    const under = await open.run('go', { model: closing });
    const others = [
      await session.run('go'),
      await agentOf(late).run('go'),
      await agentOf(runtime.agentOptions()).run('go'),
    ];

    for (const { messages } of [under, ...others]) expect(JSON.stringify(messages)).toContain('the runtime is closed');
    expect(runs()).toBe(0);
    expect(logger.lines.filter((line) => line.startsWith('error: Hook "guard" failed'))).not.toEqual([]);
    expect(runtime.status().guards).toMatchObject([{ state: 'blocked', reason: 'the runtime is closed' }]);
  },
);

test('a guard of `session_start` refuses a session after its runtime is closed', async () => {
  const { runtime, agentOf } = await ground({ user: { session_start: [guard] } });
  const agent = agentOf(runtime.agentOptions());
  await agent.ready();
  await runtime.close();

  await expect(agent.session({ id: 's' })).rejects.toMatchObject({ cause: { code: 'ERR_HOOK_CANCELLED' } });
});

test('a hook without `onFailure: "block"`, and one that nobody approved, refuse nothing after the runtime is closed', async () => {
  const files = { user: { before_tool: [{ name: 'note', command: 'true' }] }, workspace: { before_tool: [guard] } };
  const asked: string[] = [];
  const approve = ({ item }: { readonly item: { readonly name: string } }) => asked.push(item.name) > 0;
  const { runtime, agentOf, runs } = await ground(files, { approve });
  await runtime.close();

  await agentOf(runtime.agentOptions()).run('go');

  expect([runs(), asked]).toEqual([1, []]);
});

test('a guard of the workspace that an earlier process approved refuses after the runtime is closed, and nobody is asked', async () => {
  const {
    agentOf,
    runtime: earlier,
    place,
    runs,
  } = await ground({ workspace: { before_tool: [guard] } }, { approve: () => true });
  await agentOf(earlier.agentOptions()).run('go');
  const asked: unknown[] = [];
  const approve = (request: unknown) => asked.push(request) > 0;
  const runtime = await loadRuntime({ appName: 'app', ...place, logger: keepingLogger(), plugins: false, approve });
  await runtime.close();

  const { messages } = await agentOf(runtime.agentOptions()).run('go');

  expect(JSON.stringify(messages)).toContain('the runtime is closed');
  expect([runs(), asked]).toEqual([1, []]);
});
