import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { manifests } from 'keelson/manifest';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { hooksOf, linesOf, makePlace, manifest, tracer } from '../support/manifest/place.js';
import { script, write } from '../support/process/scratch.js';

const hook = (more: Record<string, unknown> = {}) => ({ name: 'h', event: 'before_agent', command: './h.sh', ...more });

describe('options', () => {
  const wrong: readonly (readonly [string, unknown])[] = [
    ['options', undefined],
    ['options', 'x'],
    ['workspaceDir', {}],
    ['workspaceDir', { workspaceDir: '' }],
    ['autoenable', { workspaceDir: '/x', autoenable: true }],
    ['appName', { workspaceDir: '/x', appName: '../y' }],
    ['userDir', { workspaceDir: '/x', userDir: 'relative' }],
    ['userDir', { workspaceDir: '/x', userDir: 5 }],
    ['autoEnable', { workspaceDir: '/x', autoEnable: 'yes' }],
    ['compat[0]', { workspaceDir: '/x', compat: ['opencode'] }],
    ['compat', { workspaceDir: '/x', compat: 'claude' }],
    ['config', { workspaceDir: '/x', config: 5 }],
    ['env', { workspaceDir: '/x', env: null }],
    ['skillTool', { workspaceDir: '/x', skillTool: 'a b' }],
    ['skillFolders[0]', { workspaceDir: '/x', skillFolders: [1] }],
    ['mustApprove', { workspaceDir: '/x', mustApprove: true }],
    ['followLinks', { workspaceDir: '/x', followLinks: 1 }],
    ['approve', { workspaceDir: '/x', approve: 'yes' }],
    ['approveTimeoutMs', { workspaceDir: '/x', approveTimeoutMs: -1 }],
    ['allow[0]', { workspaceDir: '/x', allow: ['x'] }],
    ['allow', { workspaceDir: '/x', allow: 'x' }],
    ['appName', { workspaceDir: '/x', appName: 5 }],
    ['logger', { workspaceDir: '/x', logger: 5 }],
    ['approve', { workspaceDir: '/x', gate: {}, approve: () => true }],
    ['approveTimeoutMs', { workspaceDir: '/x', gate: {}, approveTimeoutMs: 5 }],
    ['allow', { workspaceDir: '/x', gate: {}, allow: [] }],
  ];

  test.each(wrong)('refuses the invalid option %s: %j', (option, options) => {
    expect(() => manifests(options as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }));
  });
});

test('an extension of the user that must be approved is treated as one of the workspace, and runs from a copy', async () => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  const root = place.user(
    'x',
    manifest('x', { hooks: [hook()], settings: [{ name: 'a', description: 'x', default: 'b' }] }),
  );
  script(join(root, 'h.sh'), `#!/bin/sh\npwd >> ${trace}\necho '{}'\n`);
  const mustApprove = ({ name }: { readonly name: string }) => name === 'x';
  const run = async (options: object) => {
    const { loader, agent } = await place.load({ mustApprove, ...options }, { model: scriptedModel(['done']) });
    await agent.run('go');
    return loader.status().extensions[0]?.state;
  };

  expect(await run({})).toBe('pending');
  expect(linesOf(trace)).toEqual([]);
  expect(await run({ approve: place.yes })).toBe('active');
  expect(place.asked.map(({ parts }) => parts.map(({ item }) => item.kind))).toEqual([['hook', 'settings']]);
  expect(linesOf(trace)).toEqual([expect.stringContaining(join(place.userDir, 'approved'))]);
});

test('if `mustApprove` throws, the approval is required', async () => {
  const place = makePlace();
  place.user('x', manifest('x', { hooks: [hook({ command: 'true' })] }));

  const { loader } = await place.load({
    mustApprove: () => {
      throw new TypeError('x');
    },
  });

  expect(loader.status().extensions).toMatchObject([{ state: 'pending' }]);
});

test.each(['user', 'workspace'] as const)('an invalid hook of the %s is ignored and reported', async (scope) => {
  const place = makePlace();
  const hooks = [hook({ command: 'two | words' }), hook({ command: 'true', name: 'good' }), hook({ matcher: '(' })];
  place[scope]('x', manifest('x', { hooks }));

  const { loader } = await place.load({ approve: place.yes });

  expect(hooksOf(loader).map(({ name }) => name)).toEqual(['good']);
  const told = loader.status().diagnostics.map(({ level, message }) => `${level} ${message}`);
  expect(told).toEqual([expect.stringMatching(/^error .*hooks\[0\].*`args`.*hooks\[2\].*`matcher`/)]);
});

test('an extension that is enabled during a reload is active after it', async () => {
  const place = makePlace();
  place.user('x', manifest('x', { hooks: [hook({ command: 'true' })] }));
  const { loader } = await place.load({ autoEnable: false });

  const reading = loader.reload();
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([reading, loader.enable('x')]);

  expect(hooksOf(loader)).toHaveLength(1);
});

test('a reload removes an extension that was deleted from disk', async () => {
  const place = makePlace();
  const root = place.user('x', manifest('x', { hooks: [hook({ command: 'true' })] }));
  const { loader } = await place.load();

  rmSync(root, { recursive: true });
  await loader.reload();

  expect([loader.extensions(), hooksOf(loader), loader.enabledNames()]).toEqual([[], [], []]);
});

test('a reload keeps unchanged hooks, so that an open run keeps its guards', async () => {
  const place = makePlace();
  place.user('a', manifest('a', { hooks: [hook({ command: 'true' })] }));
  place.user('c', manifest('c', { hooks: [hook({ command: 'true' })] }));
  const { loader } = await place.load();
  const ids = () => loader.hooks.list().map(({ extension, id }) => `${extension} ${id}`);
  const before = ids();

  await loader.reload();
  const same = ids();
  place.user('b', manifest('b', { hooks: [hook({ command: 'true' })] }));
  await loader.reload();

  expect(same).toEqual(before);
  expect(ids().map((id) => id.split(' ')[0])).toEqual(['a', 'b', 'c']);
  expect(ids()[0]).toBe(before[0]);
});

test('a server of an extension is named after the extension and the server', async () => {
  const place = makePlace();
  const mcpServers = { db: { command: 'true', args: [], disabled: true } };
  place.user('a', manifest('a', { mcpServers }));
  place.user('b', manifest('b', { mcpServers }));

  const { loader } = await place.load();

  expect(loader.mcp.status().map(({ name }) => name)).toEqual(['a-db', 'b-db']);
  expect(loader.status().extensions.map(({ servers }) => servers)).toEqual([
    [{ name: 'db', id: 'a-db', state: 'disabled' }],
    [{ name: 'db', id: 'b-db', state: 'disabled' }],
  ]);
});

test('a skill directory may itself be a skill, and skills of one name are told apart by directory', async () => {
  const place = makePlace();
  const skills = [{ name: 'plan', description: 'x', prompt: 'from the manifest' }, 'one'];
  const root = place.user('x', manifest('x', { skills }));
  write(join(root, 'one/SKILL.md'), '---\nname: one\ndescription: x\n---\nOne.\n');
  write(join(root, 'skills/plan/SKILL.md'), '---\nname: plan\ndescription: x\n---\nfrom the folder\n');

  const { loader } = await place.load();

  expect(loader.skills.list().map(({ id }) => id)).toEqual(['x:plan', 'x:skills-plan', 'x:one']);
  expect(await loader.skills.invoke('x:plan')).toMatchObject({ content: 'from the manifest' });
  expect(await loader.skills.invoke('x:skills-plan')).toMatchObject({ content: 'from the folder' });
  await expect(loader.skills.invoke('plan')).rejects.toMatchObject({
    code: 'ERR_SKILL_UNKNOWN',
    candidates: ['x:plan', 'x:skills-plan'],
  });
  expect(loader.status().diagnostics).toEqual([]);
});

test('a sensitive setting with a common name redacts values, not other fields of that name', async () => {
  const place = makePlace();
  const settings = [{ name: 'name', description: 'x', sensitive: true }];
  const root = place.user('x', manifest('x', { settings, hooks: [hook()] }));
  script(join(root, 'h.sh'), '#!/bin/sh\necho \'{"systemMessage":"a","name":5}\'\n');
  const model = scriptedModel([calls('nothing'), says('done')]);
  const { loader, agent } = await place.load({ config: { extensions: { x: { name: 'ada-lovelace' } } } }, { model });

  await agent.run('go');

  expect(loader.status().extensions[0]).toMatchObject({ name: 'x', settings: [{ name: 'name', isSet: true }] });
  expect(loader.redact({ name: 'Grace', at: 'ada-lovelace' })).toEqual({ name: 'Grace', at: '[redacted]' });
  expect(place.logger.lines.filter((line) => line.startsWith('error'))).toEqual([]);
});

test('closing the agent removes hooks, tools and processes', async () => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  const root = place.user('x', manifest('x', { hooks: [hook()] }));
  tracer(join(root, 'h.sh'), trace, 'ran');
  const { loader, agent } = await place.load({}, { model: scriptedModel(['done']) });

  await agent.close();
  await loader.reload();

  expect(loader.mcp.status().every(({ state }) => state === 'closed')).toBe(true);
  expect(linesOf(trace)).toEqual([]);
});

test('E5: arguments and settings reach a program unchanged', async () => {
  const place = makePlace();
  const out = join(place.root, 'out.json');
  const odd = ['$(touch pwned)', '`id`', `a"b'c`, 'x\ny', '; rm -rf /', '*'];
  const settings = odd.map((value, index) => ({ name: `s${index}`, description: 'x', default: value }));
  const root = place.user(
    'x',
    manifest('x', { settings, hooks: [hook({ command: 'node', args: ['h.mjs', ...odd] })] }),
  );
  write(
    join(root, 'h.mjs'),
    `import { writeFileSync } from 'node:fs';
const settings = [0, 1, 2, 3, 4, 5].map((index) => process.env['APP_SETTING_S' + index]);
writeFileSync(${JSON.stringify(out)}, JSON.stringify([process.argv.slice(2), settings]));
console.log('{}');\n`,
  );
  const { agent } = await place.load({}, { model: scriptedModel(['done']) });

  await agent.run('go');

  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual([odd, odd]);
});

test('E10: an empty environment variable is validated, and leaves the stored value of a required setting in place', async () => {
  const place = makePlace();
  const settings = [
    { name: 'text', description: 'x', envVar: 'X_TEXT', required: true },
    { name: 'count', description: 'x', envVar: 'X_COUNT', type: 'number', default: 1 },
  ];
  place.user('x', manifest('x', { settings }));
  const config = { extensions: { x: { text: 'stored', count: 2 } } };

  const { loader } = await place.load({ env: { X_TEXT: '', X_COUNT: '' }, config });

  expect(loader.config).toEqual({ extensions: { x: { text: 'stored' } } });
  expect(loader.isEnabled('x')).toBe(true);
});
