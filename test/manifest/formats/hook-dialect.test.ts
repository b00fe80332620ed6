import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hookDialectOf } from '../../../src/manifest/formats/compat-hooks.js';
import { makePlace, type Place } from '../../support/manifest/place.js';
import { write } from '../../support/process/scratch.js';

const entry = (command: string) => [{ hooks: [{ type: 'command', command }] }];

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these programs use this syntax for variables
describe('the format of a hook file', () => {
  test.each([
    ['claude', { PreToolUse: entry('true') }],
    ['claude', { SessionStart: entry('true'), Stop: entry('true') }],
    ['claude', { SessionStart: entry('"${CLAUDE_PLUGIN_ROOT}/start.sh"') }],
    ['claude', { SessionStart: entry('true'), PermissionDenied: entry('true') }],
    ['claude', { SessionEnd: entry('true'), PermissionRequest: entry('true') }],
    ['claude', { Notification: entry('true'), PostCompact: entry('true') }],
    ['gemini', { BeforeTool: entry('true') }],
    ['gemini', { SessionStart: entry('${extensionPath}/start.sh') }],
    ['gemini', { SessionEnd: entry('true'), AfterModel: entry('"$CLAUDE_PLUGIN_ROOT/x"') }],
  ] as const)('is %s for %j, whichever manifest names it', (dialect, hooks) => {
    for (const named of ['claude', 'gemini'] as const) expect(hookDialectOf({ hooks }, named)).toBe(dialect);
  });

  test.each([
    ['an event that both have', { SessionStart: entry('true') }],
    ['events of both, one of them not supported', { PermissionDenied: entry('true'), BeforeTool: entry('true') }],
    ['events of both', { PreToolUse: entry('true'), BeforeTool: entry('true') }],
    ['no event', {}],
    ['an invalid value', 'hooks'],
  ])('is that of the manifest for %s', (_what, hooks) => {
    for (const named of ['claude', 'gemini'] as const) expect(hookDialectOf({ hooks }, named)).toBe(named);
  });
});

/** Writes a package with both manifests and a hook file of Claude Code. */
function packageWithBoth(place: Place): void {
  const root = join(place.userDir, 'extensions', 'powers');
  write(join(root, '.claude-plugin/plugin.json'), JSON.stringify({ name: 'powers', version: '1.0.0' }));
  write(join(root, 'gemini-extension.json'), JSON.stringify({ name: 'powers', version: '1.0.0' }));
  write(join(root, 'start.sh'), '#!/bin/sh\ntrue\n', 0o755);
  write(
    join(root, 'hooks/hooks.json'),
    JSON.stringify({ hooks: { SessionStart: entry('"${CLAUDE_PLUGIN_ROOT}/start.sh"') } }),
  );
}
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these programs use this syntax for variables

test.each([
  [['claude', 'gemini'], 'claude'],
  [['gemini', 'claude'], 'gemini'],
  [['gemini'], 'gemini'],
  [['claude'], 'claude'],
] as const)('of a package with both manifests, `compat: %j` reads the one of %s', async (compat, format) => {
  const place = makePlace();
  packageWithBoth(place);
  const { loader } = await place.load({ compat, approve: place.yes });

  expect(loader.status().extensions).toMatchObject([{ name: 'powers', format, state: 'active' }]);
  expect(loader.hooks.list()).toMatchObject([{ dialect: 'claude', event: 'session_start' }]);
});
