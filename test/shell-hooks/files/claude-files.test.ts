import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellHooksOptions } from 'keelson/shell-hooks';
import { says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { growth } from '../../support/growth.js';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const claude = (hooks: object, options?: ShellHooksOptions) => claudeHooks(lab, hooks, options);

test('an approval covers a script that the command names with $CLAUDE_PROJECT_DIR', async () => {
  lab.write('.claude/check.sh', '#!/bin/sh\necho ran >> ran\n');
  const asked: string[] = [];
  const hooks = claude(
    { UserPromptSubmit: [command('"$CLAUDE_PROJECT_DIR"/.claude/check.sh')] },
    { approve: ({ why, files }) => asked.push(`${why} ${files.map(({ path }) => path)}`) < 2 },
  );
  const { agent } = agentWith(lab, hooks, { script: says('ok') as never });
  await agent.run('one');
  lab.write('.claude/check.sh', '#!/bin/sh\necho evil >> ran\n');
  await agent.run('two');

  expect([asked, lab.read('ran')]).toEqual([['new .claude/check.sh', 'changed .claude/check.sh'], 'ran\n']);
});

test.each(['"$CLAUDE_PROJECT_DIR/my hooks/check.sh"', `bash "\${CLAUDE_PROJECT_DIR}/my hooks/check.sh" --fast`])(
  'an approval covers the script of the command %s',
  async (text) => {
    lab.write('my hooks/check.sh', '#!/bin/sh\necho ran >> ran\n');
    const asked: string[][] = [];
    const hooks = claude(
      { UserPromptSubmit: [command(text)] },
      { approve: ({ files }) => asked.push(files.map(({ path }) => path)) > 0 },
    );
    await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');

    expect([asked, lab.read('ran')]).toEqual([[['my hooks/check.sh']], 'ran\n']);
  },
);

test('prompts once for each published hook, including hooks that write a log file or settings', async () => {
  const log = '$CLAUDE_PROJECT_DIR/.claude/hooks.log';
  const settings = '"$CLAUDE_PROJECT_DIR"/.claude/settings.local.json';
  lab.write('.claude/hooks/check.sh', `#!/bin/sh\necho ran >> "${log}"\n`);
  const asked: (readonly [string, string | undefined])[] = [];
  const hooks = claude(
    {
      UserPromptSubmit: [
        command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh'),
        command(`jq -r .prompt >> "${log}" || true`),
        command(`cat > /dev/null; echo '{}' > ${settings}`),
      ],
    },
    { approve: ({ why, note }) => asked.push([why, note]) > 0 },
  );
  const { agent } = agentWith(lab, hooks, { script: says('ok') as never });
  await agent.run('one');
  await agent.run('two');
  await agent.run('three');

  expect(asked.map(([why, note]) => [why, note?.includes('names literally')])).toEqual([
    ['new', true],
    ['new', true],
    ['new', true],
  ]);
  expect(lab.read('.claude/hooks.log').match(/ran/g)).toHaveLength(3);
});

test('a user file can disable its hooks; a workspace file cannot', async () => {
  const document = JSON.stringify({ disableAllHooks: true, hooks: { UserPromptSubmit: [command('echo x >> ran')] } });
  const own = join(lab.home, '.claude');
  mkdirSync(own);
  writeFileSync(join(own, 'settings.json'), document);
  const hooks = hooksIn(lab, { discover: ['claude'], approve: () => true });
  await hooks.reload();
  expect(hooks.status().hooks).toEqual([]);
  expect(hooks.status().diagnostics).toMatchObject([
    { level: 'info', code: 'hooks-switched-off', message: expect.stringContaining('Hooks are disabled') },
  ]);
  lab.write('.claude/settings.json', document);
  await hooks.reload();

  expect(hooks.status().hooks.map(({ scope }) => scope)).toEqual(['workspace']);
  expect(hooks.status().diagnostics.map(({ level, code }) => `${level} ${code}`)).toContain(
    'warning hooks-switched-off',
  );
});

test('prompts again if a script appears that was missing at the approval', async () => {
  const asked: string[] = [];
  const hooks = claude(
    { UserPromptSubmit: [command('"$CLAUDE_PROJECT_DIR"/late.sh || true')] },
    { approve: ({ why }) => asked.push(why) < 2 },
  );
  const { agent } = agentWith(lab, hooks, { script: says('ok') as never });
  await agent.run('one');
  lab.write('late.sh', '#!/bin/sh\necho evil >> ran\n');
  await agent.run('two');

  expect([asked, lab.has('ran')]).toEqual([['new', 'changed'], false]);
});

test.each([
  ['claude', { command: `"\${CLAUDE_PLUGIN_ROOT}"/run.sh` }, 'UserPromptSubmit'],
  ['claude', { command: `\${CLAUDE_PLUGIN_ROOT}/run.sh`, args: [`\${CLAUDE_PLUGIN_ROOT}`] }, 'UserPromptSubmit'],
  ['gemini', { command: `\${extensionPath}\${/}run.sh` }, 'BeforeAgent'],
] as const)('runs a %s extension hook from the approved copy of its directory: %j', async (dialect, handler, event) => {
  const root = join(lab.workspace, 'ext');
  lab.write('ext/run.sh', `#!/bin/sh\necho "$0 $1" > "${lab.workspace}/where"\n`);
  lab.write(
    'ext/hooks/hooks.json',
    JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: 'command', ...handler }] }] } }),
  );
  const file = { path: 'ext/hooks/hooks.json', dialect, root, extension: 'ext' };
  const asked: string[][] = [];
  const approve = ({ files }: { files: readonly { path: string }[] }) => asked.push(files.map(({ path }) => path)) > 0;
  await agentWith(lab, hooksIn(lab, { files: [file], approve }), { script: [says('ok')] }).agent.run('go');

  expect(asked[0]).toEqual(expect.arrayContaining(['hooks/hooks.json', 'run.sh']));
  const copy = join(lab.home, '.keelson/approved/');
  const [command = '', argument = ''] = lab.read('where').trim().split(' ');
  expect([command.startsWith(copy), argument === '' || argument.startsWith(copy)]).toEqual([true, true]);
});

test('hooks of the user come before hooks of the workspace in every format', async () => {
  mkdirSync(join(lab.home, '.claude'));
  const document = (name: string) => JSON.stringify({ hooks: { before_agent: [{ name, command: 'true' }] } });
  writeFileSync(
    join(lab.home, '.claude/settings.json'),
    JSON.stringify({ hooks: { UserPromptSubmit: [command('true')] } }),
  );
  lab.write('.keelson/hooks.json', document('theirs'));
  mkdirSync(join(lab.home, '.keelson'));
  writeFileSync(join(lab.home, '.keelson/hooks.json'), document('mine'));
  const hooks = hooksIn(lab, { discover: ['native', 'claude'] });
  await hooks.reload();

  expect(hooks.status().hooks.map(({ name }) => name)).toEqual(['mine', 'claude:UserPromptSubmit#1', 'theirs']);
});

test.each(['$a/b c ', '${', '`', '$('])('denies a command line that repeats %j in linear time', async (piece) => {
  const deny = (size: number) => () => {
    const hooks = claude({ UserPromptSubmit: [command(`: ${piece.repeat(size)}`)] }, { approve: () => false });
    return agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');
  };

  expect(await growth(6_000, deny)).toBeLessThan(100);
});

test.each([
  ['a command', command(`echo "export A=1" >> "\${CLAUDE_ENV_FILE:-/dev/null}"; touch ran`)],
  ['an argument', command('sh', { args: ['-c', 'touch ran', '$CLAUDE_ENV_FILE'] })],
  ['a condition', command('if [ -n "$CLAUDE_ENV_FILE" ]; then exit 2; fi; touch ran')],
])('a hook that names CLAUDE_ENV_FILE in %s runs and causes one warning', async (_where, hook) => {
  const hooks = claude({ UserPromptSubmit: [hook] });
  await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');

  const warnings = hooks.status().diagnostics.filter(({ level }) => level === 'warning');
  expect(warnings).toMatchObject([{ code: 'variable-unsupported', message: expect.stringContaining('is not set') }]);
  expect(lab.has('ran')).toBe(true);
});
