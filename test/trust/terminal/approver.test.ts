import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { terminalApprover, terminalAsk } from 'keelson/trust';
import { expect, test } from 'vitest';
import { script, write } from '../../support/process/scratch.js';
import { attempt, makeExtension, makePlace, type Place } from '../../support/trust/place.js';
import { terminal } from '../../support/trust/terminal.js';

function askOn({ input, output }: ReturnType<typeof terminal>, place: Place) {
  return place.gate({ approve: terminalApprover({ input, output }), approveTimeoutMs: 3_000 });
}

test.each([
  ['y\n', 'good'],
  ['YES\n', 'good'],
  [' y \n', 'good'],
  ['\n', 'declined'],
  ['n\n', 'declined'],
  ['yep\n', 'declined'],
  ['\u0003', 'declined'],
])('the answer %j gives the result %s', async (answer, outcome) => {
  const place = makePlace();
  const screen = terminal();
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  screen.input.write(answer);

  expect(await attempted).toBe(outcome);
});

test('the end of the input refuses, and so does a stream that is not a terminal', async () => {
  const place = makePlace();
  const screen = terminal();
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  screen.input.end();
  expect(await attempted).toBe('declined');

  const pipe = terminal(false);
  pipe.input.write('y\n');
  expect(await attempt(askOn(pipe, place), place.hook())).toBe('declined');
  expect(pipe.shown()).toBe('');
});

test.each([
  ['reads', false],
  ['has paused', true],
])('input typed before the prompt does not count as an answer if the host %s the input', async (_title, isPaused) => {
  const place = makePlace();
  const screen = terminal();
  if (isPaused) screen.input.pause();
  screen.input.write('y\n');
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  await sleep(50);
  screen.input.write('n\n');

  expect(await attempted).toBe('declined');
});

test('input typed without Enter before the prompt does not count as an answer', async () => {
  const place = makePlace();
  const screen = terminal();
  // A terminal keeps an incomplete line until raw mode is set.
  let line = 'y';
  Object.assign(screen.input, {
    setRawMode: (isRaw: boolean) => {
      if (isRaw && line !== '') screen.input.write(line);
      line = '';
    },
  });
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  await sleep(50);
  screen.input.write('\n');

  expect(await attempted).toBe('declined');
});

test('Ctrl-C before the prompt refuses, and restores the mode of the terminal', async () => {
  const place = makePlace();
  const screen = terminal();
  const modes: boolean[] = [];
  Object.assign(screen.input, { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  screen.input.write('\u0003');

  expect(await attempt(askOn(screen, place), place.hook())).toBe('declined');
  expect([modes, screen.shown()]).toEqual([[true, false], '']);
});

test('an input that ended before the prompt refuses', async () => {
  const place = makePlace();
  const screen = terminal();
  screen.input.end();

  expect(await attempt(askOn(screen, place), place.hook())).toBe('declined');
});

test('the prompt is closed at the time limit', async () => {
  const place = makePlace();
  const screen = terminal();
  const gate = place.gate({ approve: terminalApprover(screen), approveTimeoutMs: 50 });

  expect(await attempt(gate, place.hook())).toBe('approver-failed');
  await sleep(20);
  expect(screen.input.listenerCount('keypress')).toBe(0);
});

test('the whole request is shown, with hidden characters escaped', async () => {
  const place = makePlace();
  const screen = terminal();
  const item = place.hook({
    name: 'lint\u001b[2K',
    args: [
      '\u001b[1A\u001b[2Kharmless',
      '\u202egnp.exe',
      'a\nb',
      '\u200bx',
      'b\u{e0100}\u2800\u00a0c',
      `ok${' '.repeat(60)}  runs: "ls"`,
      `${'x'.repeat(2_000)}END`,
    ],
    env: { 'MODE\u0007': 'fast\r' },
    reads: ['API_TOKEN'],
    details: { timeoutMs: 500, program: '/bin/true' },
    files: ['hooks'],
  });
  const asked = attempt(askOn(screen, place), item);
  const shown = await screen.seen('[y/N]');
  screen.input.write('n\n');
  await asked;

  for (const part of [
    'runs: "./hooks/lint.sh"',
    'argument 2: ',
    'harmless',
    'END',
    'API_TOKEN',
    'timeoutMs: 500',
    'sha256:',
    'hooks/lint.sh',
  ]) {
    expect(shown).toContain(part);
  }
  const body = shown.slice(shown.indexOf('The hook'), shown.indexOf('Allow exactly'));
  expect(body.replaceAll(/\r?\n/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(body).toContain(String.raw`\u{202e}gnp.exe`);
  expect(body).toContain('"ok (62 blanks) runs: ');
  expect(body).toContain('detail program: "/bin/true"');
  expect(body).toContain(String.raw`"b\u{e0100}\u{2800}\u{a0}c"`);
});

test('prompts come one after another', async () => {
  const place = makePlace();
  const screen = terminal();
  const gate = askOn(screen, place);
  const first = attempt(gate, place.hook({ name: 'first' }));
  await screen.seen('[y/N]');
  const second = attempt(gate, place.hook({ name: 'second' }));
  await sleep(100);
  expect(screen.shown()).not.toContain('"second"');
  screen.input.write('y\n');
  await screen.seen('"second"');
  screen.input.write('n\n');

  expect(await Promise.all([first, second])).toEqual(['good', 'declined']);
});

test('a host with its own prompt on the terminal does not receive the answer, only later input', async () => {
  const place = makePlace();
  const screen = terminal();
  const modes: boolean[] = [];
  const setRawMode = (isRaw: boolean) => {
    modes.push(isRaw);
    Object.assign(screen.input, { isRaw });
  };
  Object.assign(screen.input, { setRawMode });
  const prompts: string[] = [];
  const host = createInterface({ input: screen.input, output: new PassThrough(), terminal: true });
  host.on('line', (line) => prompts.push(line));
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  screen.input.write('y\n');
  expect(await attempted).toBe('good');
  screen.input.write('next\n');
  await sleep(20);
  host.close();

  expect(prompts).toEqual(['next']);
  // Raw mode: set by the host, set for the prompt, restored for the host, reset by the host.
  expect(modes).toEqual([true, true, true, false]);
});

test('a host that iterates over the input continues after the answer', async () => {
  const place = makePlace();
  const screen = terminal();
  const next = screen.input[Symbol.asyncIterator]().next();
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  screen.input.write('y\n');
  expect(await attempted).toBe('good');
  screen.input.write('next\n');

  expect(String((await next).value)).toBe('next\n');
});

test('two approvers on one terminal prompt one after another', async () => {
  const place = makePlace();
  const screen = terminal();
  const first = attempt(askOn(screen, place), place.hook({ name: 'first' }));
  const second = attempt(askOn(screen, place), place.hook({ name: 'second' }));
  await screen.seen('"first"');
  await sleep(100);
  expect(screen.shown()).not.toContain('"second"');
  screen.input.write('y\n');
  await screen.seen('"second"');
  screen.input.write('n\n');

  expect(await Promise.all([first, second])).toEqual(['good', 'declined']);
});

/** Asks about the hook, answers `s` and then `n`, and returns what was shown between the two questions. */
async function textShown(place: Place, more: Parameters<Place['hook']>[0] = {}, meanwhile = () => {}): Promise<string> {
  const screen = terminal();
  const attempted = attempt(askOn(screen, place), place.hook(more));
  const first = await screen.seen('[y/N]');
  expect(first).toContain('Type s to read');
  meanwhile();
  screen.input.write('s\n');
  await screen.seen('[y/N] \u001b', 2);
  const all = screen.shown();
  screen.input.write('n\n');
  expect(await attempted).toBe('declined');
  return all.slice(first.length, all.lastIndexOf('Allow exactly'));
}

test('s shows the text of the covered files with line numbers, and asks again', async () => {
  const place = makePlace();
  script(place.hookPath, '#!/bin/sh\nif true; then\n\techo good\nfi\n');
  write(join(place.workspaceDir, 'hooks', 'rules.txt'), 'no rules\n');
  const shown = await textShown(place, { files: ['hooks/rules.txt'] });

  expect(shown).toContain('"hooks/lint.sh":');
  expect(shown).toContain('    1| #!/bin/sh');
  expect(shown).toContain('    3|   echo good');
  expect(shown).toContain('"hooks/rules.txt":');
  expect(shown.indexOf('lint.sh')).toBeLessThan(shown.indexOf('rules.txt'));
});

test('a yes after s approves', async () => {
  const place = makePlace();
  const screen = terminal();
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  screen.input.write('s\n');
  await screen.seen('[y/N]', 2);
  await sleep(20);
  screen.input.write('y\n');

  expect(await attempted).toBe('good');
});

test('the content of a file cannot look like a prompt, hide other text or exceed the limit', async () => {
  const place = makePlace();
  const lines = [
    '#!/bin/sh',
    'Allow exactly this? [y/N] y\u001b[2A\u001b[2K\rharmless',
    `true${' '.repeat(300)}; rm -rf /`,
    `${' '.repeat(300)}rm -rf /`,
    '\u202egnp.exe',
    'x'.repeat(10_000),
    ...Array.from({ length: 5_000 }, (_, index) => `echo ${index}`),
  ];
  script(place.hookPath, lines.join('\n'));
  const shown = await textShown(place);

  const body = shown.slice(shown.indexOf('"hooks/lint.sh":'), shown.indexOf(' of 5006'));
  expect(body.replaceAll(/\r?\n/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(body).toContain(String.raw`2| Allow exactly this? [y/N] y\u{1b}[2A`);
  expect(body).toContain('true (300 blanks) ; rm -rf /');
  expect(body).toContain('(300 blanks) rm -rf /');
  expect(body).toContain(`    6| ${'x'.repeat(500)}`);
  expect(body).toContain(`     | ${'x'.repeat(500)}`);
  expect(body).toMatch(/… cut in line \d+$/);
  expect(body.length).toBeLessThan(25_000);
});

test('a file that is binary, or has changed since the prompt was created, is not shown', async () => {
  const place = makePlace();
  write(join(place.workspaceDir, 'hooks', 'data.bin'), 'a\0b');
  const shown = await textShown(place, { files: ['hooks/data.bin'] }, () => {
    script(place.hookPath, '#!/bin/sh\necho harmless\n');
  });

  expect(shown).toContain('not shown: 3 bytes that are not text.');
  expect(shown).toContain('not shown: the file has changed since this prompt was created. Answer n.');
  expect(shown).not.toContain('harmless');
});

/** Writes an extension package with two hooks, and asks about it on the terminal. */
function askAboutPackage(place: Place, screen: ReturnType<typeof terminal>) {
  const root = join(place.workspaceDir, '.app/extensions/x');
  write(join(root, 'manifest.json'), '{}');
  for (const name of ['a', 'b']) script(join(root, `${name}.sh`), '#!/bin/sh\n');
  const base = { scope: 'workspace', extension: 'x', source: join(root, 'manifest.json'), root } as const;
  const parts = ['a', 'b'].map(
    (name) => ({ ...base, kind: 'hook', event: 'before_tool', name, command: `./${name}.sh` }) as const,
  );
  const gate = askOn(screen, place);
  const asked = gate.authorizeParts?.({ ...base, kind: 'extension', name: 'x' }, parts);
  return asked?.then(() => Promise.all(parts.map(async (part) => (await gate.authorize(part)).allowed)));
}

test('an extension package is shown with all its parts and files, and `y` approves all of them', async () => {
  const place = makePlace();
  const screen = terminal();
  const allowed = askAboutPackage(place, screen);
  const text = await screen.seen('[y/N');
  screen.input.write('y\n');

  expect(await allowed).toEqual([true, true]);
  expect(text).toMatch(/The extension "x" of this workspace is new\. It has 2 parts/);
  expect(text).toMatch(/files: a\.sh, b\.sh, manifest\.json/);
  expect(text).toMatch(
    /1\. hook "a"\r?\n +event: before_tool\r?\n +runs: "\.\/a\.sh"[\s\S]*2\. hook "b"[\s\S]*runs: "\.\/b\.sh"/u,
  );
  expect(text.split('Allow')).toHaveLength(2);
});

test('`p` asks about each part of an extension package, and only `y` approves a part', async () => {
  const place = makePlace();
  const screen = terminal();
  const allowed = askAboutPackage(place, screen);
  await screen.seen('[y/N');
  screen.input.write('p\n');
  await screen.seen('Allow part 1 of 2? [y/N]');
  screen.input.write('\n');
  await screen.seen('Allow part 2 of 2? [y/N]');
  screen.input.write('y\n');

  expect(await allowed).toEqual([false, true]);
});

test.each(['\n', 'n\n', 'all\n', '\u0003'])(
  'the answer %j denies every part of an extension package',
  async (answer) => {
    const place = makePlace();
    const screen = terminal();
    const allowed = askAboutPackage(place, screen);
    await screen.seen('[y/N');
    screen.input.write(answer);

    expect(await allowed).toEqual([false, false]);
  },
);

test('an item without covered files gets no offer to show them', async () => {
  const place = makePlace();
  const screen = terminal();
  const attempted = attempt(askOn(screen, place), place.hook({ command: '/bin/sh', args: ['-c', 'true'] }));
  const shown = await screen.seen('[y/N]');
  screen.input.write('n\n');
  await attempted;

  expect(shown).not.toContain('Type s');
});

test.each([
  ['bytes that are invalid UTF-8', Buffer.from([0x61, 0xff, 0x62]), '3 bytes that are not text'],
  ['a byte order mark', Buffer.from('\ufeffecho hi\n'), 'feff'],
])('a covered file with %s is shown as what it is', async (_what, bytes, text) => {
  const place = makePlace();
  write(join(place.workspaceDir, 'data'), bytes);
  const screen = terminal();
  const attempted = attempt(askOn(screen, place), place.hook({ files: ['data'] }));
  await screen.seen('[y/N]');
  screen.input.write('s\n');
  const shown = await screen.seen('[y/N]', 2);
  screen.input.write('n\n');
  await attempted;

  expect(shown.slice(shown.indexOf('"data"')).toLowerCase()).toContain(text);
});

test.each(['\u0003', 'end'])(
  'at the question about a part, %j declines all parts that have no answer',
  async (answer) => {
    const place = makePlace();
    const { item } = makeExtension(place);
    const screen = terminal();
    const gate = askOn(screen, place);
    const parts = ['1', '2'].map((name) => ({ ...item, name }));
    const asked = gate.authorizeParts?.({ ...item, kind: 'extension', name: 'ext', command: undefined }, parts);
    await screen.seen('p to decide');
    screen.input.write('p\n');
    await screen.seen('Allow part 1 of 2');
    if (answer === 'end') screen.input.end();
    else screen.input.write(answer);
    if (answer !== 'end') {
      await screen.seen('Allow part 2 of 2');
      screen.input.write('n\n');
    }
    await asked;

    for (const part of parts) expect(await gate.authorize(part)).toMatchObject({ allowed: false, reason: 'declined' });
  },
);

test.each([
  ['terminalApprover', terminalApprover],
  ['terminalAsk', terminalAsk],
])('%s refuses unknown options', (_name, create) => {
  expect(() => create({ stdin: process.stdin } as never)).toThrow('unknown option `stdin`; known are input, output');
});
