import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processesOf } from '../support/examples/processes-of.js';
import { runScript, type ScriptOutcome } from '../support/examples/run-script.js';

describe('the host application of example 12', () => {
  let run: ScriptOutcome;
  let lines: readonly string[] = [];
  let folder = '';
  let during: readonly number[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-host-test-'));
    const onOutput = (chunk: string) => {
      if (chunk.includes('mcp__notes__read_graph: ')) during = processesOf(folder);
    };
    run = await runScript('examples/12-host.ts', { env: { TMPDIR: folder }, onOutput });
    lines = run.stdout.split('\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('ends well, and uses a gate with its own limits', () => {
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines.slice(0, 4).sort()).toEqual([
      'The skill "logbook" may not be used: An item must have at most 100 files and 20000 bytes.',
      'approved: extension berths',
      'approved: mcp-server files',
      'approved: mcp-server tides',
    ]);
  });

  test('calls an MCP tool without an agent, before and after a restart of the server', () => {
    expect(lines).toContain('the server is told: harbour-office 2.1.0');
    expect(lines).toContain('after its restart: harbour-office 2.1.0');
  });

  test('reloads during a run, and prints the changes of every kind of item', () => {
    const from = lines.indexOf('reload during the run:');
    const to = lines.indexOf('mcp__tides__next_tide: High water at 14:20.');
    const report = lines.slice(from + 1, to).filter((line) => line.startsWith('  '));

    expect(report).toEqual([
      '  hooks: added [], removed [cursor:afterMCPExecution#1], changed [claude:PreToolUse#1], unchanged []',
      '  servers: added [notes], removed [tides], changed [], unchanged [files]',
      '  extensions: added [], removed [berths], changed [], unchanged [logbook]',
      '  plugins: added [], removed [], changed [tide-plugin], unchanged []',
      expect.stringMatching(/^ {2}problem with extensions: Extension "logbook" .*: nobody can approve a part: /),
    ]);
  });

  test('asks about the changed items again, and about the unchanged server only once', () => {
    const asked = lines.filter((line) => line.startsWith('approved: '));
    const times = (item: string) => asked.filter((line) => line === `approved: ${item}`).length;

    expect(times('mcp-server files')).toBe(1);
    expect(times('mcp-server notes')).toBe(1);
    expect(times('hook claude:PreToolUse#1')).toBe(2);
    expect(times('plugin harbour.plugins.json')).toBe(2);
  });

  test('runs hooks of Claude Code, Cursor and its own, and a plugin package', () => {
    const blocked = (tool: string) =>
      `mcp__${tool}: The call was blocked by hook "claude:PreToolUse#1": mcp__${tool} may change something.`;

    expect(lines).toContain(blocked('files__write_file'));
    expect(lines).toContain(blocked('notes__delete_entities'));
    expect(lines).toContain('draught: 4 metres');
    expect(lines).toContain('plugin: 1 in the configuration, quay east, 18 tools');
    expect(lines).toContain('answer: [name] may sail at 14:20.');
    expect(lines).toContain('the hook of Cursor logged: who_asks');
    expect(lines).toContain(
      'Hook "hide-name" wrote `updatedInput`, which has no effect at after_model: remove the field, or move the hook to another event.',
    );
  });

  test('runs hooks without an agent until the registry is empty', () => {
    const from = lines.findIndex((line) => line.startsWith('the runner says: '));

    expect(lines.slice(from, from + 3)).toEqual([
      'the runner says: claude:PreToolUse#1 cancels: mcp__files__write_file may change something.',
      'registry.clear() removed 2 hooks',
      'the runner says: cancelled is false',
    ]);
  });

  test('loads a second runtime in the home directory, with one warning', () => {
    expect(lines.at(-2)).toMatch(
      /^warn: .*\/home is the home directory or a parent of it, so it does not count as a workspace: /,
    );
  });

  test('leaves no process and no file behind', () => {
    // The application itself and its two servers.
    expect(during.length).toBeGreaterThanOrEqual(3);
    expect(processesOf(folder)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('keelson-'))).toEqual([]);
  });
});
