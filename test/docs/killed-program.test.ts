import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { root } from '../support/docs/doc-files.js';
import { temporaryFolder } from '../support/stores/temporary-folder.js';

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

async function start(cwd: string, ...args: readonly string[]) {
  const env = { ...process.env, TSX_TSCONFIG_PATH: `${root}tsconfig.json` };
  const program = `${root}examples/pages/sessions.ts`;
  const child = spawn(process.execPath, ['--import', tsx, program, ...args], { cwd, env });
  const output = text(child.stdout);
  const [code, signal] = await once(child, 'exit');
  return { code, signal, lines: (await output).split('\n').slice(0, -1) };
}

test.skipIf(process.platform === 'win32')(
  'the first program of sessions.md answers its question once, although its first start is killed',
  async () => {
    const folder = await temporaryFolder();

    expect(await start(folder, 'crash')).toEqual({ code: null, signal: 'SIGKILL', lines: [] });
    const question = 'user: Where are we?';
    const answer = 'I have read 1 message.';
    expect(await start(folder)).toEqual({ code: 0, signal: null, lines: [question, answer] });
    const again = await start(folder, 'crash');
    expect(again).toEqual({ code: 0, signal: null, lines: [question, `assistant: ${answer}`, answer] });
  },
  120_000,
);
