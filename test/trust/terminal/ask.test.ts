import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, defineTool } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { terminalAsk } from 'keelson/trust';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bundle } from '../../support/process/bundle.js';
import { terminal } from '../../support/trust/terminal.js';

const PROMPT = 'Run it? [y/N';
const { signal } = new AbortController();
const call = (input: unknown = {}, name = 'pay') => ({ name, input, run: { signal } });

async function answered(line: string, input?: unknown) {
  const screen = terminal();
  const asked = terminalAsk(screen)(call(input), 'why');
  await screen.seen(PROMPT);
  screen.input.write(line);
  return asked;
}

test.each<[string, unknown]>([
  ['y\n', 'approve'],
  [' YES \n', 'approve'],
  ['\n', 'deny'],
  ['n\n', 'deny'],
  ...['yep\n', 'ye\n', 'sure\n', 'lately\n', 'ok y\n', 'nothing\n', 'piano lessons\n'].map(
    (line): [string, unknown] => [line, 'deny'],
  ),
  ['\u0003', 'deny'],
  ['n not on Fridays\n', { deny: 'not on Fridays' }],
  ['no too much\n', { deny: 'too much' }],
  ['N   too much\n', { deny: 'too much' }],
  ['l\n', undefined],
  ['later\n', undefined],
])('the line %j gives the answer %j', async (line, answer) => {
  expect(await answered(line)).toEqual(answer);
});

test('denies without a terminal, and shows nothing', async () => {
  const pipe = terminal(false);
  pipe.input.write('y\n');

  expect(await terminalAsk(pipe)(call(), 'why')).toEqual({ deny: 'there is no terminal to ask on' });
  expect(pipe.shown()).toBe('');
});

test('denies at the end of the input, and ignores characters typed before the question', async () => {
  const screen = terminal();
  screen.input.write('y\n');
  const asked = terminalAsk(screen)(call(), 'why');
  await screen.seen(PROMPT);
  screen.input.end();

  expect(await asked).toBe('deny');
});

test('shows the tool, the reason and the arguments, with control characters escaped', async () => {
  const screen = terminal();
  const input = {
    to: '\u001b[2Kharmless\nRun it? [y/N] y',
    'k\u202eey': '\u202egnp.exe',
    amount: 40n,
    note: `${'x'.repeat(5_000)}END`,
    ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`more${index}`, index])),
  };
  const asked = terminalAsk(screen)(call(input, 'pay\u0007'), 'Above 30 \u001b[1Aeuro.');
  const shown = await screen.seen(PROMPT);
  screen.input.write('s\n');
  // The arguments contain two of the four prompts.
  const all = await screen.seen(PROMPT, 4);
  screen.input.write('n\n');
  await asked;

  const body = shown.slice(shown.indexOf('The tool'), shown.lastIndexOf(PROMPT));
  for (const part of [
    'pay',
    'Above 30',
    'amount: 40',
    'harmless',
    '(5005 characters)',
    '… 14 more arguments',
    'type s',
  ]) {
    expect(body).toContain(part);
  }
  expect(body).not.toContain('END');
  expect(body.replaceAll(/\r?\n/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(all).toContain('END');
  expect(all).toContain('more59');
});

test.each<[string, unknown, boolean]>([
  ['short arguments', { note: 'all of it' }, false],
  ['an argument of 1,000 characters', { note: `all of it${'x'.repeat(989)}` }, false],
  ['an argument of 1,001 characters', { note: `all of it${'x'.repeat(990)}` }, true],
  ['a string in place of the arguments', 'all of it', false],
  ['50 arguments', Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`a${at}`, 'all of it'])), false],
  ['51 arguments', Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`a${at}`, 'all of it'])), true],
])('for %s, shows them and offers more only if they are shortened', async (_case, input, isCut) => {
  const screen = terminal();
  const asked = terminalAsk(screen)(call(input), 'why');
  const shown = await screen.seen(PROMPT);
  screen.input.write('n\n');
  await asked;

  expect(shown).toContain('all of it');
  expect([shown.includes('type s'), / more arg| characters\)/.test(shown)]).toEqual([isCut, isCut]);
});

test('an argument that JSON cannot represent is shown up to 10 levels deep', async () => {
  const screen = terminal();
  const nested = (levels: number): unknown => (levels === 0 ? 1n : { [`level${levels}`]: nested(levels - 1) });
  const asked = terminalAsk(screen)(call({ note: nested(12) }), 'why');
  const shown = await screen.seen(PROMPT);
  screen.input.write('n\n');
  await asked;

  expect(shown).toContain('level2: [Object]');
});

test('the question shows the tool, the reason, each argument and the answers', async () => {
  const screen = terminal();
  const asked = terminalAsk(screen)(call({ to: 'Ann', note: 'x'.repeat(1_001) }), 'Above 30.');
  const shown = (await screen.seen(PROMPT)).replaceAll('\r', '');
  screen.input.write('n\n');
  await asked;

  const rows = shown.slice(shown.indexOf('\nThe tool')).split('\n');
  expect([rows[1], rows[2], rows.slice(-2)]).toEqual([
    ...['The tool "pay" needs approval: Above 30.', '  to: "Ann"'],
    [
      '  Some arguments are shortened: type s to show more.',
      expect.stringContaining('Run it? [y/N, n <reason>, l for later] '),
    ],
  ]);
});

test('all arguments are shown as JSON with an indent of two spaces', async () => {
  const screen = terminal();
  const asked = terminalAsk(screen)(call({ note: 'x'.repeat(2_000), deep: { a: 1 } }), 'why');
  await screen.seen(PROMPT);
  screen.input.write('s\n');
  const shown = await screen.seen(PROMPT, 2);
  screen.input.write('n\n');
  await asked;

  expect(shown.replaceAll('\r', '')).toContain('3|   "deep": {\n    4|     "a": 1\n    5|   }');
});

test('asks for concurrent calls one after another', async () => {
  const screen = terminal();
  const [first, second] = ['pay', 'erase'].map((name) => terminalAsk(screen)(call({}, name), 'why'));
  await screen.seen(PROMPT);
  await sleep(100);
  expect(screen.shown()).not.toContain('"erase"');
  screen.input.write('y\n');
  await screen.seen('"erase"');
  await screen.seen(PROMPT, 2);
  screen.input.write('n\n');

  expect(await Promise.all([first, second])).toEqual(['approve', 'deny']);
});

test('an abort ends the prompt, and restores the input for the host', async () => {
  const screen = terminal();
  const lines: string[] = [];
  const host = createInterface({ input: screen.input, output: new PassThrough() });
  host.on('line', (line) => lines.push(line));
  const controller = new AbortController();
  const asked = terminalAsk(screen)({ ...call(), run: controller }, 'why');
  const later = terminalAsk(screen)({ ...call({}, 'erase'), run: controller }, 'why');
  await screen.seen(PROMPT);
  controller.abort();

  expect(await Promise.all([asked, later])).toEqual(['deny', 'deny']);
  screen.input.write('mine\n');
  await expect.poll(() => lines).toEqual(['mine']);
  host.close();
});

test('is the `ask` of the lifecycle `approval`', async () => {
  const screen = terminal();
  const paid: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ amount: z.number() }),
    execute: (input) => `Payment ${paid.push(input)}.`,
  });
  const script = [calls('pay', { amount: 40 }), calls('pay', { amount: 9_000 }), says('Done.')];
  const agent = new Agent({
    model: scriptedModel(script),
    tools: [pay],
    lifecycle: [approval({ tools: ['pay'], ask: terminalAsk(screen) })],
  });
  const running = agent.run('Pay.');
  await screen.seen(PROMPT);
  screen.input.write('y\n');
  await screen.seen('9000');
  await screen.seen(PROMPT, 3);
  screen.input.write('n too much\n');

  const { messages } = await running;
  expect(paid).toEqual([{ amount: 40 }]);
  expect(messages[4]).toMatchObject({ content: [{ isError: true, content: 'The call was denied: too much' }] });
});

const hasPty = spawnSync('script', ['--version']).status === 0;
const program = await bundle(fileURLToPath(new URL('../../support/trust/asking-host.ts', import.meta.url)));

test.skipIf(!hasPty)(
  'a real terminal is asked about two calls in turn, and then reads for the host again',
  async () => {
    const host = spawn('script', ['-qec', `${process.execPath} ${program}`, '/dev/null']);
    let shown = '';
    host.stdout.on('data', (chunk) => {
      shown += chunk;
    });
    const ended = new Promise<number | null>((resolve) => host.on('close', resolve));
    const seen = (text: string) => expect.poll(() => shown, { timeout: 30_000 }).toContain(text);
    await seen('The tool "pay"');
    await seen(PROMPT);
    expect(shown).not.toContain('"erase"');
    host.stdin.write('y\r');
    await seen('The tool "erase"');
    await expect.poll(() => shown.slice(shown.indexOf('"erase"')), { timeout: 30_000 }).toContain(PROMPT);
    host.stdin.write('n not today\r');
    await seen('answers: ["approve",{"deny":"not today"}]');
    await seen('next>');
    host.stdin.write('hello\r');
    await seen('line: hello');

    expect(await ended).toBe(0);
  },
  90_000,
);

test('Ctrl-C ends the question and the run', async () => {
  const screen = terminal();
  const pay = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), execute: () => expect.fail() });
  const script = [calls({ name: 'pay', input: {} }, { name: 'pay', input: {} }), says('Done.')];
  const lifecycle = [approval({ tools: ['pay'], ask: terminalAsk(screen) })];
  const running = new Agent({ model: scriptedModel(script), tools: [pay], lifecycle }).run('Pay.');
  await screen.seen(PROMPT);
  screen.input.write('\u0003');

  await expect(running).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'terminalAsk' });
  expect(screen.shown().split(PROMPT)).toHaveLength(2);
});
