import { expect, test } from 'vitest';
import { askOnTerminal, isTerminal } from '../../../src/trust/terminal/prompt.js';
import { settled } from '../../support/lifecycle/manual-clock.js';
import { terminal } from '../../support/trust/terminal.js';

const question = { text: 'text', prompt: 'prompt? ', read: (line: string) => line, refusal: 'refused' };
const { signal } = new AbortController();

test('all later input reaches the host', async () => {
  const screen = terminal();
  let received = 0;
  screen.input.on('data', (chunk) => {
    received += chunk.length;
  });
  const asked = askOnTerminal(screen, question, signal);
  await screen.seen('prompt?');
  screen.input.write('yes\n');
  expect(await asked).toBe('yes');

  for (let at = 0; at < 20; at += 1) screen.input.write('x'.repeat(10_000));

  await expect.poll(() => received).toBe(200_000);
});

test('a question leaves no listeners on the terminal', async () => {
  const screen = terminal();
  const counts = () => screen.input.eventNames().map((name) => [name, screen.input.listenerCount(name)]);
  const before = counts();
  const asked = askOnTerminal(screen, question, signal);
  await screen.seen('prompt?');
  screen.input.write('yes\n');
  await asked;

  expect(counts()).toEqual(before);
});

test('a host that had paused the input gets what is typed after Ctrl-C', async () => {
  const screen = terminal();
  screen.input.write('\u0003');
  expect(await askOnTerminal(screen, question, signal)).toBe('refused');

  screen.input.write('later');
  await settled();
  let received = '';
  screen.input.on('data', (chunk) => {
    received += chunk;
  });
  screen.input.resume();

  await expect.poll(() => received).toBe('later');
});

test('Ctrl-C that was typed while the host had paused the input refuses', async () => {
  const screen = terminal();
  screen.input.pause();
  screen.input.write('\u0003');

  expect(await askOnTerminal(screen, question, signal)).toBe('refused');
  expect(screen.shown()).toBe('');
});

test('characters that were typed before the question are discarded', async () => {
  const screen = terminal();
  screen.input.write('no\n');
  const asked = askOnTerminal(screen, question, signal);
  await screen.seen('prompt?');
  screen.input.write('yes\n');

  expect(await asked).toBe('yes');
});

test('a question is asked although the answer to the one before could not be read', async () => {
  const screen = terminal();
  const broken = { ...question, read: () => Promise.reject(new RangeError('broken')) };
  const first = expect(askOnTerminal(screen, broken, signal)).rejects.toThrow('broken');
  const second = askOnTerminal(screen, question, signal);
  await screen.seen('prompt?');
  screen.input.write('one\n');
  await first;
  await screen.seen('prompt?', 2);
  screen.input.write('two\n');

  expect(await second).toBe('two');
});

test('a question that is aborted before it is shown is refused, and is not shown', async () => {
  const screen = terminal();
  const controller = new AbortController();
  const asked = askOnTerminal(screen, question, controller.signal);
  await settled();
  controller.abort();

  expect(await asked).toBe('refused');
  expect(screen.shown()).toBe('');
});

test('two streams are a terminal only if both are', () => {
  const [screen, pipe] = [terminal(true), terminal(false)];

  expect(isTerminal(screen)).toBe(true);
  expect(isTerminal({ input: screen.input, output: pipe.output })).toBe(false);
  expect(isTerminal({ input: pipe.input, output: screen.output })).toBe(false);
});
