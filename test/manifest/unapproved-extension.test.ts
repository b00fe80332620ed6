import { join } from 'node:path';
import { calls, says, scriptedModel } from 'keelson/testing';
import type { Approver } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { echoServer, makePlace, manifest, type Place } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

const no: Approver = () => false;
const noParts: Approver = ({ parts }) => ({ declined: parts.map(({ digest }) => digest) });
const NOBODY_APPROVES: readonly (readonly [string, Approver | undefined])[] = [
  ['without an approver', undefined],
  ['after a refusal', no],
  ['after a refusal of each part', noParts],
];

const setting = { name: 'depth', description: 'The depth.', envVar: 'DEPTH', sensitive: true, default: 'guard' };
const hook = { type: 'command', command: 'echo no >&2; exit 2' };
const skill = '---\nname: greet\ndescription: Greets.\n---\nSay hello.\n';
const server = { command: process.execPath, args: [echoServer] };

/** Writes files of an extension of the workspace. */
function stranger(place: Place, folder: string, files: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    write(join(place.workspaceDir, '.app/extensions', folder, path), text);
  }
}

const guards = (...events: readonly string[]) => ({
  hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]])),
});
const native = manifest('native', {
  hooks: Object.fromEntries(
    ['before_agent', 'before_model', 'before_tool_selection', 'after_model', 'before_tool', 'after_tool'].map(
      (event) => [event, [{ name: 'n', command: '/bin/sh', args: ['-c', 'exit 2'], onFailure: 'block' }]],
    ),
  ),
  mcpServers: { mine: server },
  settings: [setting],
  skills: [{ name: 'greet', description: 'Greets.', prompt: 'Say hello.' }],
});

const STRANGERS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['that hides a tool', { 'gemini-extension.json': { name: 'g', version: '1.0.0', excludeTools: ['guard'] } }],
  [
    'that hides some calls of a tool',
    { 'gemini-extension.json': { name: 'g', version: '1.0.0', excludeTools: 'guard(x)' } },
  ],
  [
    'with every part of Gemini CLI',
    {
      'gemini-extension.json': {
        ...{ name: 'g', version: '1.0.0', excludeTools: ['guard', 'mcp__mine__echo', 'skill'], settings: [setting] },
        ...{ mcpServers: { mine: server }, themes: [{ name: 'guard' }], plan: { directory: '.' } },
      },
      'GEMINI.md': 'Never guard.',
      'hooks/hooks.json': guards('BeforeAgent', 'BeforeModel', 'BeforeToolSelection', 'AfterModel', 'BeforeTool'),
      'skills/greet/SKILL.md': skill,
      'commands/greet.toml': 'prompt = "Say hello."',
    },
  ],
  [
    'with every part of Claude Code',
    {
      '.claude-plugin/plugin.json': { name: 'mine', userConfig: { depth: { ...setting, type: 'string' } } },
      'CLAUDE.md': 'Never guard.',
      '.mcp.json': { mcpServers: { mine: server } },
      'hooks/hooks.json': guards('SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'),
      'skills/greet/SKILL.md': skill,
      'commands/greet.md': 'Say hello.',
      'settings.json': { permissions: { deny: ['guard'] } },
    },
  ],
  ['with every native part', { 'manifest.json': native }],
  ['with the name of an extension of the user', { 'manifest.json': { ...native, name: 'Mine' } }],
];

/** Runs an agent with an extension of the user. Returns everything that the model, a listener and the host can see. */
async function seen(place: Place, approve: Approver | undefined) {
  const mine = { skills: [{ name: 'greet', description: 'Greets.', prompt: 'Say ahoy.' }] };
  place.user('mine', manifest('mine', { ...mine, settings: [{ name: 'depth', description: 'd', default: 5 }] }));
  const model = scriptedModel([calls('guard', { depth: 'guard' }), calls('skill', { name: 'greet' }), says('done')]);
  const tools = [toolOf('guard', () => 'guarded')];
  const options = { compat: ['gemini', 'claude'] as const, env: { ...process.env, DEPTH: 'guard' }, approve };
  const { loader, agent } = await place.load(options, { model, tools });
  const { text, messages } = await agent.run('go');
  const requests = model.requests.map((request) => ({ ...request, signal: undefined }));
  const { mine: config } = loader.config.extensions as Record<string, unknown>;
  const effects = JSON.stringify({ text, messages, requests, config, skills: loader.skills.list() });
  return { loader, effects: effects.replaceAll(place.root, '<place>') };
}

describe.each(NOBODY_APPROVES)('%s', (_when, approve) => {
  test.each(STRANGERS)('an extension %s changes nothing in a run', async (_what, files) => {
    const place = makePlace();
    stranger(place, 'stranger', files);
    const { effects, loader } = await seen(place, approve);

    expect(effects).toBe((await seen(makePlace(), approve)).effects);
    const { extensions } = loader.status();
    expect(extensions.slice(1).map(({ state }) => state)).toEqual(extensions.length === 1 ? [] : ['pending']);
  });
});

const hiding = { name: 'g', version: '1.0.0', excludeTools: ['guard'] };

test('a person is asked about hidden tools, and the approval of them hides them', async () => {
  const place = makePlace();
  stranger(place, 'g', { 'gemini-extension.json': hiding });
  const { loader, effects } = await seen(place, place.yes);

  expect(place.asked).toMatchObject([{ parts: [{ item: { kind: 'skill', details: { excludedTools: ['guard'] } } }] }]);
  expect(effects).not.toContain('"name":"guard","description"');
  expect(loader.status().extensions).toMatchObject([{ name: 'mine' }, { state: 'active', approved: true }]);
});

test('a changed list of hidden tools is asked about again', async () => {
  const place = makePlace();
  stranger(place, 'g', { 'gemini-extension.json': { ...hiding, excludeTools: ['other'] } });
  await seen(place, place.yes);
  stranger(place, 'g', { 'gemini-extension.json': hiding });
  const { effects } = await seen(place, no);

  expect(effects).toBe((await seen(makePlace(), no)).effects);
});

test('an extension of the user that needs an approval hides nothing before it', async () => {
  const place = makePlace();
  write(join(place.userDir, 'extensions/g/gemini-extension.json'), JSON.stringify(hiding));
  const model = scriptedModel(['done']);
  const own = { model, tools: [toolOf('guard', () => 'guarded')] };
  const { agent } = await place.load({ compat: ['gemini'], mustApprove: () => true }, own);
  await agent.run('go');

  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['guard']);
});
