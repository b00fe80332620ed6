import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { terminalApprover } from '../../../src/trust/approvals/terminal-approver.js';
import { attempt, makePlace, type Place } from '../../support/trust/place.js';

function terminal(isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let shown = '';
  output.on('data', (chunk) => {
    shown += chunk;
  });
  const seen = async (text: string) => {
    for (let tries = 0; tries < 200 && !shown.includes(text); tries++) await sleep(10);
    return shown;
  };
  return { input, output, seen, shown: () => shown };
}

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

test('input typed before the prompt does not count as an answer', async () => {
  const place = makePlace();
  const screen = terminal();
  screen.input.write('y\n');
  const attempted = attempt(askOn(screen, place), place.hook());
  await screen.seen('[y/N]');
  await sleep(50);
  screen.input.write('n\n');

  expect(await attempted).toBe('declined');
});

test('input typed before the prompt without Enter does not count either', async () => {
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
