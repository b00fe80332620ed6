import { join } from 'node:path';
import { shellHooks } from 'keelson/shell-hooks';
import { scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { makePlace } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

type Names = NonNullable<NonNullable<Parameters<typeof shellHooks>[0]>['toolNames']>;

/** Runs an agent twice with an extension of Gemini CLI. Returns the offered tools and the warnings. */
async function offered(excludeTools: unknown, toolNames: Names | undefined, own: readonly string[]) {
  const place = makePlace();
  const root = join(place.userDir, 'extensions/g');
  write(join(root, 'gemini-extension.json'), JSON.stringify({ name: 'g', version: '1.0.0', excludeTools }));
  const { workspaceDir, userDir } = place;
  const gate = createTrustGate({ workspaceDir, stateDir: userDir });
  const hooks = shellHooks({ appName: 'app', workspaceDir, userDir, gate, ...(toolNames && { toolNames }) });
  const model = scriptedModel(['one', 'two']);
  const tools = own.map((name) => toolOf(name, () => 'ran'));
  const { agent } = await place.load({ compat: ['gemini'], gate, hooks }, { model, tools });
  await agent.run('go');
  await agent.run('go');
  const warned = place.logger.lines.filter((line) => line.includes('hides nothing'));
  return { offered: model.requests.map((request) => request.tools.map(({ name }) => name)), warned };
}

const MAPPED = { gemini: { Bash: 'run_shell_command' } };
const SHELL = { gemini: { Bash: 'run_shell_command', sh: { name: 'run_shell_command', args: { line: 'command' } } } };

test.each<readonly [string, { excludeTools: unknown; toolNames?: Names }, readonly string[]]>([
  ['its own name', { excludeTools: ['Bash'] }, ['look', 'sh']],
  ['the mapped name', { excludeTools: ['run_shell_command'], toolNames: MAPPED }, ['look', 'sh']],
  ['the mapped name of two tools', { excludeTools: 'run_shell_command', toolNames: SHELL }, ['look']],
  ['the mapped name with arguments', { excludeTools: ['run_shell_command(rm -rf)'], toolNames: SHELL }, ['look']],
])('a tool is hidden by %s', async (_how, { excludeTools, toolNames }, left) => {
  const { offered: names, warned } = await offered(excludeTools, toolNames, ['Bash', 'look', 'sh']);

  expect(names).toEqual([left, left]);
  expect(warned).toEqual([]);
});

test.each<readonly [string, Names | undefined]>([
  ['without a mapping', undefined],
  ['with a mapping for another program', { claude: { Bash: 'run_shell_command' } }],
  ['with a mapping of another tool', { gemini: { look: 'read_file' } }],
])('a name that belongs to no tool hides nothing and causes one warning: %s', async (_when, toolNames) => {
  const { offered: names, warned } = await offered(['run_shell_command'], toolNames, ['Bash', 'look']);

  expect(names).toEqual([
    ['Bash', 'look'],
    ['Bash', 'look'],
  ]);
  expect(warned).toHaveLength(1);
  expect(warned[0]).toContain('no tool is named run_shell_command. If a tool has another name here, map the name');
});

test('a name that belongs to no tool causes no warning beside one that hides a tool', async () => {
  const { offered: names, warned } = await offered(['web_fetch', 'Bash'], undefined, ['Bash', 'look']);

  expect(names).toEqual([['look'], ['look']]);
  expect(warned).toEqual([]);
});
