import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createTrustGate, type TrustItem, type UserHooksChange } from 'keelson/trust';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fingerprintItem } from '../../src/trust/fingerprint/fingerprint.js';
import { script, write } from '../support/process/scratch.js';
import { allowed, attempt, makeExtension, makePlace, type Place, start, verified } from '../support/trust/place.js';

function usersHook({ stateDir }: Place, more: Partial<TrustItem> = {}): TrustItem {
  const source = join(stateDir, 'hooks.json');
  if (!existsSync(source)) write(source, '{}');
  if (!existsSync(join(stateDir, 'hook.sh'))) script(join(stateDir, 'hook.sh'), '#!/bin/sh\necho mine\n');
  return { kind: 'hook', scope: 'user', name: 'mine', event: 'before_tool', source, command: './hook.sh', ...more };
}

test('items of the host and of the user run without a prompt', async () => {
  const place = makePlace();
  const gate = place.gate({ approve: () => expect.unreachable() });

  expect(await attempt(gate, usersHook(place))).toBe('mine');
  const builtin: TrustItem = { kind: 'hook', scope: 'builtin', name: 'b', command: place.hookPath };
  expect(await gate.authorize(builtin)).toMatchObject({ allowed: true, reason: 'builtin', scope: 'builtin' });
  expect(await attempt(gate, builtin)).toBe('good');
  expect(await attempt(gate, { ...builtin, source: 'built-in' })).toBe('good');
});

test('a relative program of the user is resolved against its definition, not against the workspace', async () => {
  const place = makePlace();
  script(join(place.workspaceDir, 'hook.sh'), '#!/bin/sh\necho EVIL\n');

  expect(await attempt(place.gate({ approve: undefined }), usersHook(place))).toBe('mine');
});

test('an item of the user belongs to the workspace if its program lies there', async () => {
  const place = makePlace();
  const item = usersHook(place, { command: place.hookPath });

  expect(await place.gate({ approve: undefined }).authorize(item)).toMatchObject({
    allowed: false,
    scope: 'workspace',
  });
});

test.each(['source', 'root'])(
  'an item of the user without a program belongs to the workspace if its %s is a link into it',
  async (member) => {
    const place = makePlace();
    write(join(place.workspaceDir, 'skills', 'SKILL.md'), 'text');
    const link = join(place.stateDir, 'linked');
    symlinkSync(join(place.workspaceDir, 'skills'), link);
    const path = member === 'root' ? link : join(link, 'SKILL.md');
    const gate = place.gate({ approve: undefined });

    expect(await gate.authorize({ kind: 'skill', scope: 'user', name: 'sail', [member]: path })).toMatchObject({
      ...{ allowed: false, scope: 'workspace' },
    });
  },
);

test('an item of the user that moves into the workspace after the decision is refused', async () => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(usersHook(place)));

  const moved = { ...decision, item: { ...decision.item, source: join(place.workspaceDir, '.app', 'hooks.json') } };

  expect(await gate.verify(moved)).toMatchObject({ allowed: false, scope: 'workspace' });
});

test('a missing program of the user is reported when it is started', async () => {
  const place = makePlace();
  const gate = place.gate();
  const item = usersHook(place, { command: './missing.sh' });

  const decision = allowed(await gate.authorize(item));

  const denied = { allowed: false, reason: 'no-executable', scope: 'user', failure: { code: 'not-found' } };
  expect(await gate.verify(decision)).toMatchObject(denied);
  expect(await gate.check?.(item)).toMatchObject(denied);
});

test.each([
  ['not-executable', '#!/bin/sh\n', 0o644],
  ['bad-format', 'echo EVIL\n', 0o755],
  ['bad-interpreter', '#!/nowhere/sh\n', 0o755],
] as const)('a program of the user that has become %s is reported and does not run', async (code, text, mode) => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(usersHook(place)));
  write(join(place.stateDir, 'hook.sh'), text, mode);
  chmodSync(join(place.stateDir, 'hook.sh'), mode);

  const result = await start(verified(await gate.verify(decision)));

  expect(result).toMatchObject({ outcome: 'spawn-failed', stdout: '', failure: { code } });
});

test('C22: a changed item of the user runs, and is reported once', async () => {
  const place = makePlace();
  const changes: UserHooksChange[] = [];
  const gateOf = () => place.gate({ onUserHooksChanged: (change) => void changes.push(change) });
  const run = async () => {
    const gate = gateOf();
    const first = await attempt(gate, usersHook(place));
    return [first, await attempt(gate, usersHook(place)), changes.splice(0).map(({ what }) => what)];
  };

  expect(await run()).toEqual(['mine', 'mine', []]);
  expect(await run()).toEqual(['mine', 'mine', []]);
  script(join(place.stateDir, 'hook.sh'), '#!/bin/sh\necho other\n');
  expect(await run()).toEqual(['other', 'other', ['item']]);
  write(join(place.stateDir, 'hooks.json'), '{"new":1}');
  expect(await run()).toEqual(['other', 'other', ['file']]);
  expect(await run()).toEqual(['other', 'other', []]);
  expect(place.logger.lines.filter((line) => line.startsWith('warn'))).toHaveLength(2);
});

test('C22: an item of the user is compared with its last run once per process', async () => {
  const place = makePlace();
  const changes: UserHooksChange[] = [];
  const gate = place.gate({ onUserHooksChanged: (change) => void changes.push(change) });
  await gate.authorize(usersHook(place));
  script(join(place.stateDir, 'hook.sh'), '#!/bin/sh\necho other\n');

  await gate.authorize(usersHook(place));

  expect(changes).toEqual([]);
});

test('C22: a file of the user with two items is compared with its last run once per process', async () => {
  const place = makePlace();
  const changes: UserHooksChange[] = [];
  const gate = place.gate({ onUserHooksChanged: (change) => void changes.push(change) });
  await gate.authorize(usersHook(place));
  write(join(place.stateDir, 'hooks.json'), '{"new":1}');

  await gate.authorize(usersHook(place, { name: 'second' }));

  expect(changes).toEqual([]);
});

test('C22: a check of an item of the user records nothing, and a later run reports the change', async () => {
  const place = makePlace();
  const changes: UserHooksChange[] = [];
  await place.gate().authorize(usersHook(place));
  const stored = readFileSync(place.storePath, 'utf8');
  script(join(place.stateDir, 'hook.sh'), '#!/bin/sh\necho other\n');
  const gate = place.gate({ onUserHooksChanged: (change) => void changes.push(change) });

  expect(await gate.check?.(usersHook(place))).toMatchObject({ allowed: true, reason: 'user' });
  expect([changes, readFileSync(place.storePath, 'utf8')]).toEqual([[], stored]);

  await gate.authorize(usersHook(place));

  expect(changes).toMatchObject([{ what: 'item' }]);
});

test('C22: a hook of the user has the same fingerprint in another workspace', async () => {
  const place = makePlace();
  const changes: UserHooksChange[] = [];
  const onUserHooksChanged = (change: UserHooksChange) => void changes.push(change);
  const other = join(place.root, 'other');
  write(join(other, 'x'), '');

  await place.gate({ onUserHooksChanged }).authorize(usersHook(place));
  await place.gate({ onUserHooksChanged, workspaceDir: other }).authorize(usersHook(place));

  expect(changes).toEqual([]);
});

test('the user’s items run even if the store fails or a listener throws', async () => {
  const place = makePlace();
  const item = usersHook(place);
  const throwing = place.gate({
    onUserHooksChanged: () => {
      throw new RangeError('x');
    },
  });
  await attempt(throwing, item);
  writeFileSync(join(place.stateDir, 'hooks.json'), '{"a":1}');

  expect(
    await attempt(
      place.gate({
        onUserHooksChanged: () => {
          throw new RangeError('x');
        },
      }),
      item,
    ),
  ).toBe('mine');
  expect(place.logger.lines.at(-1)).toBe('warn: Could not check whether "mine" has changed since it last ran: x');
  rmSync(join(place.stateDir, 'hooks.json'));
  expect(await attempt(place.gate(), item)).toBe('mine');
});

test('a definition from a pipe is not read again', async () => {
  const place = makePlace();
  const item = usersHook(place);
  rmSync(join(place.stateDir, 'hooks.json'));
  execFileSync('mkfifo', [join(place.stateDir, 'hooks.json')]);

  expect(await attempt(place.gate(), item)).toBe('mine');
});

test.each(['', 'relative'])('with the home directory "%s" the option stateDir is required', async (home) => {
  const place = makePlace();
  vi.stubEnv('HOME', home);
  try {
    const { workspaceDir } = place;
    for (const more of [{}, { stateDir: 5 as never }, { stateDir: 'state' }]) {
      const refused = expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'stateDir' });
      expect(() => createTrustGate({ workspaceDir, ...more })).toThrow(refused);
    }
    expect(place.gate().isProtectedPath('.claude/settings.json')).toBe(true);
    expect(await place.gate().authorize(place.hook())).toMatchObject({ allowed: true });
  } finally {
    vi.unstubAllEnvs();
  }
});

test('an extension package of the user runs from its own directory', async () => {
  const place = makePlace();
  const root = join(place.stateDir, 'extensions', 'mine');
  const command = script(join(root, 'hook.sh'), '#!/bin/sh\ncat "$1"\n');
  write(join(root, 'data'), 'from the package');
  const item = { kind: 'hook', scope: 'user', name: 'mine', event: 'before_tool', root } as const;
  const gate = place.gate({ approve: () => expect.unreachable() });
  const hook = { ...item, command: './hook.sh', args: [`\${extensionPath}/data`] };

  const { launch } = verified(await gate.verify(allowed(await gate.authorize(hook))));

  expect(launch).toMatchObject({ command, args: [join(root, 'data')] });
  expect(await attempt(gate, hook)).toBe('from the package');
});

test.each([[['home', '.app']], [['.app']], [['a', 'b', 'c', '.app']]])(
  'a copy of an extension package runs programs of the system, with the state directory at %j',
  async (steps) => {
    const place = makePlace();
    const { item } = makeExtension(place);
    const gate = place.gate({ stateDir: join(place.root, ...steps) });
    const hook = { ...item, command: '/bin/sh', args: [`\${extensionPath}/hook.sh`] };

    const { launch } = verified(await gate.verify(allowed(await gate.authorize(hook))));

    expect(launch?.argv0).toBe('/bin/sh');
    expect(launch?.command).toBe(realpathSync('/bin/sh'));
  },
);

test('in the home directory as the workspace, an item of the user covers only the scripts that it names', async () => {
  const place = makePlace();
  const workspaceDir = join(place.root, 'home');
  vi.stubEnv('HOME', workspaceDir);
  onTestFinished(() => void vi.unstubAllEnvs());
  const item = usersHook(place, { shell: true, command: 'cd . && ./hook.sh' });
  script(join(place.stateDir, 'other.sh'), '#!/bin/sh\n');

  const { scope, files } = await fingerprintItem(item, { ...place.trustPlace(), workspaceDir });

  expect([scope, files.map(({ path }) => path)]).toEqual(['user', ['hook.sh']]);
});

test('an extension of the user that is too large to compare causes one warning, whatever the number of its parts', async () => {
  const place = makePlace();
  const roots = ['big', 'bigger'].map((name) => join(place.stateDir, 'extensions', name));
  const parts = roots.flatMap((root) => {
    for (const file of ['a.sh', 'b.sh', 'c.sh']) script(join(root, file), '#!/bin/sh\n');
    const source = write(join(root, 'manifest.json'), '{}');
    const whole = { scope: 'user', source, root, extension: basename(root) } as const;
    const hooks = ['a', 'b'].map(
      (name) => ({ ...whole, kind: 'hook', name, event: 'x', command: `./${name}.sh` }) as const,
    );
    return [...hooks, { ...whole, kind: 'mcp-server', name: 'c', command: './c.sh' } as const];
  });
  const gate = place.gate({ limits: { files: 2, bytes: 1_000 } });
  for (const part of [...parts, ...parts]) expect(await gate.authorize(part)).toMatchObject({ allowed: true });

  const warned = place.logger.lines.filter((line) => line.startsWith('warn'));
  expect(warned).toEqual(
    ['big', 'bigger'].map((name) =>
      expect.stringContaining(`Could not check whether the extension "${name}" has changed since it last ran: `),
    ),
  );
});
