import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { textOf } from 'keelson';
import { calls, type ScriptedModel, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { echoServer, makePlace, manifest, type Place, tracer } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

const skills = [{ name: 'greet', description: 'Greets a lot.', prompt: 'Say hello.' }];
const mcpServers = { tell: { command: 'node', args: [echoServer] } };
const TOOL = 'mcp__plug-tell__echo';

/** Creates a workspace extension with all kinds of parts. */
function fill(place: Place): void {
  const hooks = { before_tool: [{ name: 'note', command: './note.sh' }] };
  const root = place.workspace('plug', manifest('plug', { skills, mcpServers, hooks }));
  tracer(join(root, 'note.sh'), join(place.root, 'trace'), 'ran');
}

/** Revokes approvals as another process does, which has its own gate. */
async function revoke({ workspaceDir, userDir }: Place, isRevoked: (kind: string) => boolean = () => true) {
  const gate = createTrustGate({ workspaceDir, stateDir: userDir });
  for (const { kind, digest } of await gate.store.list()) if (isRevoked(kind)) await gate.revoke(digest);
}

const script = () => scriptedModel([says('one'), calls(TOOL, { variable: 'PATH' }), says('two')]);

function shownTo({ requests }: ScriptedModel, at: number): string {
  return JSON.stringify([requests[at]?.messages, requests[at]?.tools]);
}

test('after a revoke by another process, no part of the extension is used in the next run', async () => {
  const place = makePlace();
  fill(place);
  let answer = true;
  const model = script();
  const { loader, agent } = await place.load({ approve: () => answer }, { model });
  await agent.run('go');
  answer = false;
  await revoke(place);

  const { messages } = await agent.run('go');

  expect(shownTo(model, 0)).toContain('Greets a lot.');
  expect(shownTo(model, 1)).not.toContain('Greets a lot.');
  expect(messages.filter(({ role }) => role === 'tool').map(textOf)).toEqual([expect.stringContaining('no tool')]);
  expect(loader.status()).toMatchObject({
    extensions: [{ state: 'pending', approved: false, skills: [], servers: [{ state: 'denied' }] }],
    skills: [],
  });
});

test('after a revoke of one part, the next run asks about this part only and keeps the others', async () => {
  const place = makePlace();
  fill(place);
  const model = script();
  const { loader, agent } = await place.load({ approve: place.yes }, { model });
  const { reconnects } = loader.mcp.status()[0] ?? {};
  await revoke(place, (kind) => kind === 'skill');

  await agent.run('go');
  const { messages } = await agent.run('go');

  expect(place.asked.at(-1)?.parts.map(({ item }) => item.kind)).toEqual(['skill']);
  expect(place.asked).toHaveLength(2);
  expect(messages.filter(({ role }) => role === 'tool').map(textOf)).toEqual([expect.stringContaining('PATH=')]);
  expect(loader.mcp.status()[0]?.reconnects).toBe(reconnects);
});

test('the context of a revoked extension leaves the instructions, and that of another one stays', async () => {
  const place = makePlace();
  for (const name of ['calm', 'loud']) {
    const root = join(place.workspaceDir, '.app', 'extensions', name);
    write(join(root, 'gemini-extension.json'), JSON.stringify({ name, version: '1.0.0' }));
    write(join(root, 'GEMINI.md'), `Be ${name}.`);
  }
  let answer = true;
  const model = scriptedModel([says('one'), says('two')]);
  const { agent } = await place.load({ approve: () => answer, compat: ['gemini'] }, { model });
  await agent.run('go');
  answer = false;
  const { workspaceDir, userDir } = place;
  const gate = createTrustGate({ workspaceDir, stateDir: userDir });
  await gate.store.revoke(({ name }) => name === 'loud');

  await agent.run('go');

  expect([shownTo(model, 0).includes('Be loud.'), shownTo(model, 1).includes('Be loud.')]).toEqual([true, false]);
  expect(shownTo(model, 1)).toContain('Be calm.');
});

test('a change on disk does not count before a reload, unless an approval is gone', async () => {
  const place = makePlace();
  fill(place);
  const { loader, agent } = await place.load({ approve: place.yes }, { model: scriptedModel(() => 'done') });
  place.workspace('more', manifest('more'));
  execFileSync('touch', [join(place.userDir, 'trusted-hooks.json')]);

  await agent.run('go');

  expect(loader.extensions().map(({ name }) => name)).toEqual(['plug']);
});
