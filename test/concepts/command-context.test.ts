import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandContextOptions, commandContext } from 'keelson/concepts';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { until } from '../support/agent/settle.js';
import { augmentedRun, block } from '../support/concepts/augmented-run.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-concepts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** Writes an executable program into a new directory. `body` is JavaScript that can use `args` and `request`. */
function program(body: string, name = 'maenifold'): { root: string; path: string; notes: string } {
  const root = join(folder, `${count++}`);
  mkdirSync(root);
  const path = join(root, name);
  const notes = join(root, 'notes');
  const head = `#!${process.execPath}\nconst fs = require('node:fs');\nconst args = process.argv.slice(2);\n`;
  const noted = `const request = JSON.parse(args[3] || '{}');\nfs.appendFileSync(${JSON.stringify(notes)}, JSON.stringify(args) + '\\n');\n`;
  writeFileSync(path, `${head}${noted}${body}\n`);
  chmodSync(path, 0o755);
  return { root, path, notes };
}

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const augmentedBy = (input: object, options: CommandContextOptions) =>
  augmentedRun(input, { buildContext: commandContext(options) });

const knows = "process.stdout.write('about ' + request.conceptName + '\\n');";

test('S2-4.1f: runs the program from PATH once for each concept', async () => {
  const { root, notes } = program(knows);
  const { received } = await augmentedBy({ text: '[[A]] [["; rm -rf ~ #]]' }, { env: { PATH: root } });

  const asked = linesOf(notes).sort((a, b) => (a[3] > b[3] ? 1 : -1));
  expect(asked.map((args) => args.slice(0, 3))).toEqual(Array(2).fill(['--tool', 'buildcontext', '--payload']));
  expect(asked.map((args) => JSON.parse(args[3])).map(({ conceptName, ...rest }) => [conceptName, rest])).toEqual(
    [
      ['A', { depth: 1, includeContent: true, maxEntities: 5 }],
      ['"; rm -rf ~ #', { depth: 1, includeContent: true, maxEntities: 5 }],
    ].sort(([a], [b]) => (JSON.stringify(a) > JSON.stringify(b) ? 1 : -1)),
  );
  expect(received[0]).toMatchObject({ text: expect.stringContaining('about "; rm -rf ~ #') });
});

test('S2-4.3d: begins each context with a heading of its concept, and never adds a second heading', async () => {
  const { path } = program(
    "process.stdout.write(request.conceptName === 'B' ? '## [[B]]\\n\\nabout B' : 'about A\\n');",
  );
  const { received } = await augmentedBy({ text: '[[A]] [[B]]' }, { command: path });

  const context = '## [[A]]\n\nabout A\n\n---\n\n## [[B]]\n\nabout B';
  expect(received).toEqual([{ text: `${block(context)}\n\n[[A]] [[B]]` }]);
});

test('S2-8.2c: requests at most five of sixty related concepts', async () => {
  const { path, notes } = program(
    "process.stdout.write(Array.from({ length: 60 }, (_, i) => 'related ' + i).slice(0, request.maxEntities).join('\\n'));",
  );
  const { received } = await augmentedBy({ text: '[[hub]]' }, { command: path });

  expect(JSON.parse(linesOf(notes)[0][3])).toMatchObject({ maxEntities: 5 });
  expect((received[0] as { text: string }).text.match(/related \d+/g)).toHaveLength(5);
});

describe('S2-8.2a, S2-5.3: without the program', () => {
  test.each([
    [
      'MAENIFOLD_ROOT is a directory that does not exist',
      () => ({ env: { ...process.env, MAENIFOLD_ROOT: join(folder, 'none') } }),
    ],
    ['PATH does not contain the program', () => ({ env: { PATH: folder } })],
    [
      'the program is not executable',
      () => {
        const { path } = program(knows);
        chmodSync(path, 0o644);
        return { command: path };
      },
    ],
    [
      'the program is only in the workspace',
      () => {
        const { root } = program(knows);
        return { env: { PATH: root }, workspaceDir: root };
      },
    ],
    [
      'the program is only in the given workspace, which is the home directory',
      () => {
        const { root } = program(knows);
        vi.stubEnv('HOME', root);
        onTestFinished(() => void vi.unstubAllEnvs());
        return { env: { PATH: root }, workspaceDir: root };
      },
    ],
  ])('the call runs unchanged if %s', async (_title, options) => {
    const { received, log } = await augmentedBy({ text: '[[A]]' }, options());

    expect(received).toEqual([{ text: '[[A]]' }]);
    expect(log.map(({ level }) => level)).toEqual(['info', 'debug']);
    expect(log[1]).toMatchObject({ extra: { reason: 'unavailable' } });
  });

  test('S2-8.2a: the call runs unchanged if the default command reads MAENIFOLD_ROOT from the process environment', async () => {
    const before = process.env.MAENIFOLD_ROOT;
    process.env.MAENIFOLD_ROOT = join(folder, 'none');
    try {
      const { received, log } = await augmentedRun({ text: '[[A]]' }, { buildContext: undefined });

      expect(received).toEqual([{ text: '[[A]]' }]);
      expect(log.map(({ level }) => level)).toEqual(['info', 'debug']);
    } finally {
      if (before === undefined) delete process.env.MAENIFOLD_ROOT;
      else process.env.MAENIFOLD_ROOT = before;
    }
  });
});

test.each([
  ['the directory of the program', ({ root }: { root: string }) => root],
  ['the program', ({ path }: { path: string }) => path],
])('MAENIFOLD_ROOT may name %s', async (_title, rootOf) => {
  const made = program(knows);
  const { received } = await augmentedBy({ text: '[[A]]' }, { env: { PATH: '', MAENIFOLD_ROOT: rootOf(made) } });

  expect(received).toEqual([{ text: `${block('## [[A]]\n\nabout A')}\n\n[[A]]` }]);
});

test('MAENIFOLD_ROOT may name a directory with the source of the program and its `bin`', async () => {
  const { root, path } = program(knows);
  mkdirSync(join(root, 'bin'));
  renameSync(path, join(root, 'bin', 'maenifold'));
  mkdirSync(path);
  const { received } = await augmentedBy({ text: '[[A]]' }, { env: { PATH: '', MAENIFOLD_ROOT: root } });

  expect(received).toEqual([{ text: `${block('## [[A]]\n\nabout A')}\n\n[[A]]` }]);
});

test('S2-4.1d: logs a failed program with its path and its standard error', async () => {
  const { path } = program("console.error('no graph'); process.exit(3);");
  const { received, log } = await augmentedBy({ text: '[[A]]' }, { command: path });

  expect(received).toEqual([{ text: '[[A]]' }]);
  expect(log.at(-2)).toMatchObject({
    level: 'error',
    message: 'BuildContext failed for [[A]]',
    extra: { error: `ConceptCommandError: The concept command "${path}" failed (exit code 3): no graph` },
  });
});

test('logs that a program was ended by a signal', async () => {
  const { path } = program("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1_000);");
  const { log } = await augmentedBy({ text: '[[A]]' }, { command: path });

  expect(log.at(-2)).toMatchObject({ extra: { error: expect.stringContaining('failed (signaled)') } });
});

test('runs another program with custom arguments', async () => {
  const { path } = program('process.stdout.write(args.join(" "));', 'atlas');
  const args = ({ conceptName, maxEntities }: { conceptName: string; maxEntities: number }) => [
    'look-up',
    conceptName,
    `--limit=${maxEntities}`,
    '',
  ];
  const { received } = await augmentedBy({ text: '[[A]]' }, { command: path, args });

  expect(received).toEqual([{ text: `${block('## [[A]]\n\nlook-up A --limit=5')}\n\n[[A]]` }]);
});

test("removes credentials of model providers from the program's environment", async () => {
  const { path, root } = program(
    'fs.writeFileSync(process.env.OUT + "/env", JSON.stringify(Object.keys(process.env)));',
  );
  await augmentedBy({ text: '[[A]]' }, { command: path, env: { OUT: root, OPENAI_API_KEY: 'sk-1' } });

  expect(JSON.parse(readFileSync(join(root, 'env'), 'utf8'))).not.toContain('OPENAI_API_KEY');
});

test.each([
  ['hangs', ''],
  ['ignores SIGTERM', "process.on('SIGTERM', () => {});"],
])('S2-5.4: kills a program that %s at the time limit', async (_title, first) => {
  const { path, root } = program(
    `${first} fs.writeFileSync(process.env.OUT + "/pid", String(process.pid)); setInterval(() => {}, 1000);`,
  );
  const clock = fakeClock();
  const buildContext = commandContext({ command: path, env: { OUT: root } });
  const running = augmentedRun({ text: '[[A]]' }, { buildContext, timeouts: { conceptMs: 500 }, clock });
  const pid = () => (existsSync(join(root, 'pid')) ? Number(readFileSync(join(root, 'pid'), 'utf8')) : 0);
  await vi.waitUntil(() => pid() > 0, 20_000);
  clock.advance(500);

  expect((await running).received).toEqual([{ text: '[[A]]' }]);
  await until(() => !isAlive(pid()));
});

function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z';
  } catch {
    return false;
  }
}

test('S2-7.1b: a lookup with a program that runs for 400 ms takes less than 800 ms', async () => {
  const path = join(folder, 'sleeper');
  writeFileSync(path, '#!/bin/sh\nsleep 0.4\necho known\n');
  chmodSync(path, 0o755);
  const buildContext = commandContext({ command: path });
  const request = { conceptName: 'A', depth: 1, includeContent: true, maxEntities: 5 };
  let least = Number.POSITIVE_INFINITY;
  // Load from other processes only adds time, so the shortest time counts.
  for (let tries = 0; tries < 20 && least >= 800; tries += 1) {
    const start = performance.now();
    await buildContext(request, { signal: new AbortController().signal });
    least = Math.min(least, performance.now() - start);
  }

  expect(least).toBeLessThan(800);
});
