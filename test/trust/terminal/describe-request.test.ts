import type { ApprovalPart, ApprovalRequest } from 'keelson/trust';
import { expect, test } from 'vitest';
import { describeItem, describeParts } from '../../../src/trust/terminal/describe-request.js';
import { makePlace } from '../../support/trust/place.js';

const file = { in: 'workspace', executable: false } as const;
const hook: ApprovalPart = {
  why: 'changed',
  digest: 'sha256:1',
  item: {
    ...{ kind: 'hook', scope: 'workspace', name: 'li"nt\u001b', event: 'before_tool', extension: 'tools' },
    ...{ source: '/ws/hooks.json', root: '/ws/tools', command: 'sh', args: ['a.sh', 'b\n'], shell: true },
    ...{ env: { A: '1' }, reads: ['B'], files: ['lib/*.sh', 'bin/*'], details: { matcher: 'Edit' } },
  },
  workspace: '/ws',
  executable: '/bin/sh',
  argv: ['sh', 'a.sh', 'b\n'],
  cwd: '/ws',
  files: [
    { ...file, type: 'file', path: 'a.sh', sha256: 'new' },
    { ...file, type: 'directory', path: 'lib' },
    { ...file, type: 'symlink', path: 'c.sh', target: 'a.sh' },
  ],
  scripts: { 'a.sh': 'new', 'b.sh': 'same' },
  previousScripts: { 'a.sh': 'old', 'b.sh': 'same' },
  unbound: ['data'],
  note: 'Look closely.',
};
const ownRows = [
  ...['event: before_tool', 'runs: "sh"', '  argument 1: "a.sh"', '  argument 2: "b\\n"', 'through: a shell'],
  ...['program: /bin/sh', 'in folder: /ws', 'sets: A="1"', 'reads: B', 'detail matcher: "Edit"'],
  ...['script: a.sh new (changed)', 'script: b.sh same (unchanged)', 'with files: lib/*.sh, bin/*'],
];
const limitRows = ['NOT covered: the files in "data"', 'NOTE: Look closely.'];
const indented = (rows: readonly string[], indent: string) => rows.map((row) => `${indent}${row}\n`).join('');

test('the description of an item has a row for each property', () => {
  const head = ['defined in: /ws/hooks.json', 'extension: tools', 'lies in: /ws/tools'];
  const rows = [...head, ...ownRows, 'files covered: 2', ...limitRows, 'digest: sha256:1'];

  expect(`${describeItem(hook)}\n`).toBe(
    `\nThe hook "li\\"nt\\u001b" of this workspace has CHANGED since you approved it.\n${indented(rows, '  ')}`,
  );
});

test('the description of an extension has the rows of each part', () => {
  const whole = { ...hook, why: 'new', item: { ...hook.item, kind: 'extension', name: 'tools' } } as const;
  const server = { ...hook, item: { kind: 'skill', scope: 'workspace', name: 'sail' }, argv: [], scripts: {} } as const;
  const bare = { ...server, executable: undefined, unbound: [], note: undefined };
  const rows = [
    ...['defined in: /ws/hooks.json', 'lies in: /ws/tools', 'files covered: 2', 'files: a.sh, c.sh'],
    'digest: sha256:1',
  ];

  expect(`${describeParts({ ...whole, parts: [hook, bare] })}\n`).toBe(
    [
      '\nThe extension "tools" of this workspace is new. It has 2 parts to approve:\n',
      indented(rows, '  '),
      '  1. hook "li\\"nt\\u001b"\n',
      indented([...ownRows, ...limitRows], '     '),
      '  2. skill "sail"\n',
    ].join(''),
  );
});

test('a part without a shell or an earlier approval says nothing about them', () => {
  const text = describeItem({ ...hook, why: 'new', item: { ...hook.item, shell: false }, previousScripts: undefined });

  expect(text).toContain('\n  script: a.sh new\n  script: b.sh same\n');
  expect(text).not.toContain('through:');
});

test('an empty list has no row', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook({ reads: [], files: [] }));

  const text = describeItem(place.asked[0] as ApprovalRequest);

  expect(text).toContain('  files covered: 1\n');
  expect(text).not.toContain('reads:');
  expect(text).not.toContain('with files:');
});

test('the members of a list are separated by commas', async () => {
  const place = makePlace();
  await place.gate().authorize(place.hook({ reads: ['TOKEN', 'HOST'] }));

  const text = describeItem({ ...(place.asked[0] as ApprovalRequest), unbound: ['lib', 'tools'] });

  expect(text).toContain('  reads: TOKEN, HOST\n');
  expect(text).toContain('  NOT covered: the files in "lib", "tools"\n');
});
