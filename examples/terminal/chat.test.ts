import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const sessions = mkdtempSync(join(tmpdir(), 'terminal-'));
after(() => rmSync(sessions, { recursive: true }));

/** Starts the program, sends each line when the program asks for one, and returns everything that it has printed. */
async function chat(...lines: readonly string[]): Promise<string> {
  const program = fileURLToPath(new URL('chat.ts', import.meta.url));
  const env = { ...process.env, SESSIONS: sessions, OPENAI_API_KEY: '' };
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', program], { env });
  let printed = '';
  const waiting = [...lines];
  child.stdout?.on('data', (data: Buffer) => {
    printed += data;
    if (!/(?:> |\[y\/N\] )$/.test(printed)) return;
    const line = waiting.shift();
    if (line === undefined) child.stdin?.end();
    else child.stdin?.write(`${line}\n`);
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  return printed;
}

test('answers, and goes on with the conversation after a restart', async () => {
  assert.match(await chat('Ahoy'), /You said "Ahoy" in message 1\./);
  assert.match(await chat('Again'), /You said "Again" in message 2\./);
});

test('asks before it keeps a note', async () => {
  assert.match(await chat('note: buy rope', 'y'), /Keep {"note":"buy rope"}\? \[y\/N\] Note 1 is kept\./);
  assert.doesNotMatch(await chat('note: buy rope', 'n'), /is kept/);
});
