import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { echoServer, linesOf, makePlace, manifest, tracer } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

const skills = [{ name: 'greet', description: 'Greets.', prompt: 'Say hello.' }];

test.each([
  ['a missing file', './gone.md'],
  ['a missing file outside of the extension', '/nowhere/gone.md'],
  ['itself', 'old.md'],
])('an extension with a link to %s works completely', async (_, target) => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  const root = place.workspace('plug', manifest('plug', { skills, hooks: { before_tool: [hook('block')] } }));
  tracer(join(root, 'guard.sh'), trace, 'ran');
  mkdirSync(join(root, 'docs'));
  symlinkSync(target, join(root, 'docs', 'old.md'));
  const { loader, agent } = await place.load(
    { approve: place.yes },
    { model: scriptedModel([calls('skill', { name: 'plug:greet' }), says('done')]) },
  );

  const { messages } = await agent.run('go');

  expect(loader.status()).toMatchObject({ extensions: [{ name: 'plug', state: 'active' }], diagnostics: [] });
  expect(JSON.stringify(messages)).toContain('Say hello.');
  expect(linesOf(trace)).toEqual(['ran']);
});

function hook(onFailure: 'block' | 'continue') {
  return { name: 'guard', command: './guard.sh', onFailure };
}

test.each([
  ['only skills', { skills }],
  ['only a server', { mcpServers: { tell: { command: 'node', args: [echoServer] } } }],
  ['a hook', { hooks: { before_tool: [hook('continue')] } }],
  ['a required setting', { settings: [{ name: 'token', description: 'x', required: true }], skills }],
])(
  'a workspace extension with %s and a link that leads outside is an error in the status and the log',
  async (_, more) => {
    const place = makePlace();
    const root = place.workspace('plug', manifest('plug', more));
    tracer(join(root, 'guard.sh'), join(place.root, 'trace'), 'ran');
    symlinkSync('/etc/hostname', join(root, 'docs'));

    const { loader } = await place.load({ approve: place.yes });

    const { diagnostics, extensions } = loader.status();
    expect(diagnostics).toMatchObject([
      { level: 'error', extension: 'plug', message: expect.stringContaining('docs leads to /etc/hostname') },
    ]);
    expect(extensions).toMatchObject([
      { approved: false, reasons: expect.arrayContaining([expect.stringContaining('docs leads to /etc/hostname')]) },
    ]);
    expect(place.logger.lines.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringContaining('docs leads to /etc/hostname'),
    ]);
  },
);

test('a hook whose program is missing is an error, although the other parts of its extension work', async () => {
  const place = makePlace();
  place.workspace('plug', manifest('plug', { skills, hooks: { before_tool: [hook('continue')] } }));

  const { loader } = await place.load({ approve: place.yes });

  expect(loader.status().diagnostics).toMatchObject([{ level: 'error', message: expect.stringContaining('"guard"') }]);
  expect(loader.skills.list()).toHaveLength(1);
});

test('a server that nobody can approve is an error, although the other parts of its extension work', async () => {
  const place = makePlace();
  const mcpServers = { tell: { command: 'node', args: ['../../server.mjs'] } };
  place.workspace('plug', manifest('plug', { skills, mcpServers }));
  write(join(place.workspaceDir, '.app', 'server.mjs'), '');

  const { loader } = await place.load({ approve: place.yes });

  expect(loader.status().diagnostics).toMatchObject([{ level: 'error', message: expect.stringContaining('tell') }]);
  expect(loader.skills.list()).toHaveLength(1);
});

test.each([
  ['nobody is asked', undefined],
  ['the user declines', () => false],
])('an extension is not reported as a problem if %s', async (_, approve) => {
  const place = makePlace();
  place.workspace('plug', manifest('plug', { skills }));

  const { loader } = await place.load({ approve });

  expect(loader.status()).toMatchObject({ extensions: [{ state: 'pending' }], diagnostics: [] });
});
