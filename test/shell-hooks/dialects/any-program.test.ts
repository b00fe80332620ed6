import { copyFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type HookLab, runOnce, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** For each language that every test machine has: writes a hook and returns its command. */
const programs: Readonly<Record<string, (lab: HookLab) => { command: string; args?: string[] }>> = {
  'a shell script': ({ write }) => {
    write('hook.sh', '#!/bin/sh\ncat > seen.json; echo \'{"ticket":"X"}\'\n');
    return { command: './hook.sh' };
  },
  'a Node.js program': ({ write }) => {
    write(
      'hook.mjs',
      `import fs from 'node:fs'; fs.writeFileSync('seen.json', fs.readFileSync(0)); console.log('{"ticket":"X"}')`,
    );
    return { command: process.execPath, args: ['hook.mjs'] };
  },
  'a compiled program': ({ workspace, write }) => {
    write('answer.json', '{"ticket":"X"}');
    copyFileSync('/bin/cat', `${workspace}/binary`);
    return { command: './binary', args: ['answer.json'] };
  },
};

// covers: S0-G.1
test.each(Object.entries(programs))('runs a hook that is %s', async (_what, make) => {
  const { outcomes } = await runOnce(lab, [{ event: 'before_tool', name: 'any', ...make(lab) }]);

  expect(outcomes).toMatchObject([{ status: 'completed', output: { ticket: 'X' } }]);
});
