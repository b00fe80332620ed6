import { from } from './cell.js';
import { HOOK_EVENTS, isToolEvent } from './hook-event.js';
import type { Program } from './program.js';

const own = from('docs/mcp.md');

const hooks = from('docs/shell-hooks.md');

/**
 * Keelson itself, described like the other programs. Its hook files and answers have more features than this
 * description holds, so they have their own readers.
 */
export const native: Program = {
  id: 'native',
  name: 'Keelson',
  version: '1.0',
  read: '2026-11',
  hooks: {
    files: hooks({ user: ['.{app}/hooks.json'], workspace: ['.{app}/hooks.json'] }),
    form: hooks({}),
    entry: hooks({
      types: ['command'],
      command: ['command'],
      timeout: ['timeout'],
      onFailure: true,
      env: true,
      cwd: true,
    }),
    timeUnit: hooks('milliseconds'),
    defaultTimeout: hooks(false),
    events: hooks(Object.fromEntries(HOOK_EVENTS.map((event) => [event, { event, matched: isToolEvent(event) }]))),
    matcher: hooks('names-or-pattern'),
    matchesSources: hooks(false),
    tools: hooks({}),
    mcpTool: hooks('mcp__<server>__<tool>'),
    pluginTool: 'unknown',
    answer: hooks({
      fields: {
        continue: { type: 'boolean', means: 'refuse' },
        reason: { type: 'text', means: 'reason' },
        systemMessage: { type: 'text', means: 'context' },
        updatedInput: { type: 'object', means: 'input', at: ['before_tool'] },
        updatedOutput: { type: 'any', means: 'result', at: ['after_tool'] },
      },
      refusal: { '*': 'cancel' },
    }),
    unknownAnswerRefuses: hooks(false),
    refusingFailures: hooks([]),
    startsIn: hooks('package'),
    variables: hooks({ workspace: [], package: [] }),
    refusedAnswer: hooks('withheld'),
    runsOnce: hooks(false),
    readsTranscripts: hooks(true),
    input: hooks({}),
  },
  servers: {
    files: own([]),
    maps: own([['mcpServers'], ['context_servers']]),
    fields: own({ httpUrl: 'url', serverUrl: 'url', tools: 'includeTools', disabledTools: 'excludeTools' }),
    inner: own(undefined),
    lists: own({}),
    timeUnit: own('milliseconds'),
    startsIn: own('package'),
    variables: own({}),
    environment: own([]),
    unset: own('unavailable'),
    urlMeans: own('http'),
  },
  packages: {
    manifest: from('docs/manifest.md')('manifest.json'),
    parts: from('docs/manifest.md')([]),
  },
};
