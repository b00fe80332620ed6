import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/internal/clock.js';
import { ProcessTransport } from '../../../src/mcp/transport/process-transport.js';

const SECRET = `s3cret-${'0123456789'.repeat(3)}`;
const PART = /s3cret|0123456789/;

/** Runs a program that ends. Resolves with everything that is shown of its output. */
async function shownOf(code: string): Promise<readonly string[]> {
  const shown: string[] = [];
  const transport = new ProcessTransport({
    ...{ server: 'tell', command: process.execPath, argv0: 'node', args: ['-e', code], cwd: process.cwd(), env: {} },
    ...{ maxBytes: 1_000_000, clock: systemClock, spawn: undefined, signal: new AbortController().signal },
    redact: (text) => text.replaceAll(SECRET, '[redacted]'),
    onStderrLine: (line) => shown.push(line),
  });
  onTestFinished(() => transport.close());
  transport.onerror = (error) => shown.push(error.message);
  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await ended;
  return [...shown, transport.ending ?? '', transport.stderr()];
}

const write = (stream: 'stdout' | 'stderr', text: string) =>
  `process.${stream}.write(${JSON.stringify(text)}, () => {})`;

test.each([
  ['the last 2,000 characters of the standard error', write('stderr', `x${SECRET}${'y'.repeat(1_980)}\n`)],
  ['the first 200 characters of an invalid line', write('stdout', `${'x'.repeat(185)}${SECRET}${'y'.repeat(99)}\n`)],
  ['a long line of the standard error', write('stderr', `${'x'.repeat(245)}${SECRET}${'y'.repeat(4_000)}\n`)],
  ['a line of the standard error above the limit', write('stderr', `${SECRET}${'y'.repeat(65_600)}${SECRET}\n`)],
  [
    'the kept standard error, with many secrets behind it',
    write('stderr', `${SECRET}\n${`${SECRET}\n`.repeat(1_724)}`.slice(0, 65_550 + 20)),
  ],
])('a secret is redacted before %s is cut', async (_, code) => {
  const shown = await shownOf(code);

  expect(shown.join('\n')).not.toBe('\n');
  expect(shown.filter((text) => PART.test(text))).toEqual([]);
});

test('the standard error is shown in the reason of the end', async () => {
  const [line, ending] = await shownOf(write('stderr', `token ${SECRET}\n`));

  expect(line).toBe('token [redacted]');
  expect(ending).toBe('it exited with code 0; its standard error ends with: token [redacted]');
});
