import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { echoServer, linesOf, makePlace, manifest, type Place, tracer } from '../support/manifest/place.js';

const SECRET = 's3cret-of-the-test';

/** Creates a workspace extension with a hook, a server, a setting with a variable, and a skill. */
function makeWhole(place: Place): { root: string; trace: string } {
  const trace = join(place.root, 'trace');
  const root = place.workspace(
    'whole',
    manifest('whole', {
      hooks: { before_tool: [{ name: 'note', command: './note.sh' }] },
      mcpServers: { tell: { command: 'node', args: [echoServer] } },
      settings: [
        { name: 'apiToken', description: 'The token.', envVar: 'WHOLE_TOKEN', required: false, sensitive: true },
      ],
      skills: [
        {
          name: 'greet',
          description: 'Greets.',
          prompt: 'Say hello to {{who}}.',
          parameters: [{ name: 'who', required: true }],
        },
      ],
    }),
  );
  tracer(join(root, 'note.sh'), trace, 'hook $WHOLE_TOKEN');
  return { root, trace };
}

const model = () =>
  scriptedModel([
    calls('skill', { name: 'whole:greet', parameters: { who: 'Ada' } }),
    calls('mcp__whole-tell__echo', { variable: 'WHOLE_TOKEN' }),
    says('done'),
  ]);

test('S0-5.6, S0-5.7, S0-7.3, S0-12.1: every part of an approved workspace extension works in one run', async () => {
  const place = makePlace();
  const { trace } = makeWhole(place);
  const script = model();
  const { loader, agent } = await place.load(
    { approve: place.yes, env: { ...process.env, WHOLE_TOKEN: SECRET } },
    { model: script },
  );

  const { messages } = await agent.run('go');

  expect(loader.status().extensions).toMatchObject([
    { name: 'whole', scope: 'workspace', state: 'active', approved: true },
  ]);
  expect(place.asked.map(({ item }) => `${item.kind} ${item.name}`)).toEqual(['extension whole']);
  expect(place.asked[0]?.parts.map(({ item }) => `${item.kind} ${item.name}`).sort()).toEqual([
    'hook note',
    'mcp-server whole-tell',
    'settings whole',
    'skill whole',
  ]);
  const results = messages.filter(({ role }) => role === 'tool').map(textOf);
  expect(JSON.stringify(messages)).toContain('Say hello to Ada.');
  expect(JSON.stringify(messages)).toContain('WHOLE_TOKEN=[redacted]');
  expect(results).toHaveLength(2);
  expect(linesOf(trace)).toEqual([`hook ${SECRET}`, `hook ${SECRET}`]);
  expect(loader.config).toEqual({ extensions: { whole: { apiToken: SECRET } } });
});

test('E1: before the approval no part of the extension runs, connects, is read or reaches the model', async () => {
  const place = makePlace();
  const { trace } = makeWhole(place);
  const read: unknown[] = [];
  const env = new Proxy({ ...process.env, WHOLE_TOKEN: SECRET } as NodeJS.ProcessEnv, {
    get: (values, name) => {
      read.push(name);
      return values[String(name)];
    },
  });
  const script = scriptedModel([calls('other'), says('done')]);
  const { loader, agent } = await place.load({ env }, { model: script });

  await agent.run('go');

  expect(read).not.toContain('WHOLE_TOKEN');
  expect(loader.status().extensions).toMatchObject([{ enabled: true, approved: false, state: 'pending', skills: [] }]);
  expect(loader.hooks.list().map(({ name }) => name)).toEqual(['note']);
  expect(loader.mcp.status()).toMatchObject([{ name: 'whole-tell', state: 'pending' }]);
  expect(linesOf(trace)).toEqual([]);
  expect(loader.config).toEqual({ extensions: { whole: {} } });
  expect(script.requests[0]?.tools).toEqual([]);
});

test('a change of one byte needs a new approval', async () => {
  const place = makePlace();
  const { root } = makeWhole(place);
  const { loader } = await place.load({ approve: place.yes });
  const before = place.asked.length;

  await loader.reload();
  const unchanged = place.asked.length;
  appendFileSync(join(root, 'note.sh'), '#');
  await loader.reload();

  expect([before, unchanged]).toEqual([1, 1]);
  expect(place.asked).toHaveLength(2);
  expect(place.asked[1]).toMatchObject({ why: 'changed', item: { kind: 'extension' } });
  expect(place.asked[1]?.parts.map(({ why, item }) => `${why} ${item.kind}`).sort()).toEqual([
    ...['changed hook', 'changed mcp-server', 'changed settings', 'changed skill'],
  ]);
  expect(readFileSync(join(root, 'note.sh'), 'utf8')).toContain('#!/bin/sh');
});

test('an approval is stored, so the next process does not prompt again', async () => {
  const place = makePlace();
  makeWhole(place);
  await place.load({ approve: place.yes });

  const { loader } = await place.load();

  expect(loader.status().extensions).toMatchObject([{ state: 'active', approved: true, skills: ['whole:greet'] }]);
  expect(loader.mcp.status()).toMatchObject([{ state: 'connected' }]);
});

test('each declined part is reported, and the other parts work', async () => {
  const place = makePlace();
  const { trace } = makeWhole(place);
  const script = scriptedModel([calls('mcp__whole-tell__echo', { variable: 'WHOLE_TOKEN' }), says('done')]);
  const { loader, agent } = await place.load(
    {
      approve: ({ parts }) => ({
        declined: parts.filter(({ item }) => item.kind !== 'mcp-server').map(({ digest }) => digest),
      }),
      env: { ...process.env, WHOLE_TOKEN: SECRET },
    },
    { model: script },
  );

  const { messages } = await agent.run('go');

  expect(messages[2]).toMatchObject({ content: [{ content: 'WHOLE_TOKEN=(unset)' }] });
  expect(linesOf(trace)).toEqual([]);
  expect(loader.status().extensions[0]).toMatchObject({ state: 'pending', approved: false, skills: [] });
  expect(loader.status().extensions[0]?.reasons.map((reason) => reason.split('"')[0])).toEqual([
    ...['The settings ', 'The hook ', 'The skill '],
  ]);
});
