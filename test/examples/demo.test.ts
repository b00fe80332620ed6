import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startExplorerServer } from '../support/examples/explorer-server.js';
import { type RunScriptOptions, runScript, type ScriptOutcome } from '../support/examples/run-script.js';
import { isGone, processesWith } from '../support/mcp/lab.js';

const temporary = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
afterAll(() => rmSync(temporary, { recursive: true }));

/** Runs the demo, which writes its traces into the temporary folder of this test. */
function runDemo({ env, ...options }: RunScriptOptions = {}): Promise<ScriptOutcome> {
  return runScript('examples/demo/main.ts', { ...options, env: { TMPDIR: temporary, ...env } });
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the printed answers of the model. */
function answersIn(stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.startsWith('» '));
}

describe('the demo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  const writes = join(folder, 'writes');
  let run: ScriptOutcome;

  beforeAll(async () => {
    const logger = new URL('../support/examples/log-writes.mjs', import.meta.url);
    run = await runDemo({ env: { NODE_OPTIONS: `--import=${logger}`, WRITES_FILE: writes, TMPDIR: folder } });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('answers from the real files without a key or server, and draws both runs with `formatRun`', () => {
    const { code, stdout, stderr } = run;
    const [about, licence, ...rest] = answersIn(stdout);
    const title = /^# (.+)$/m.exec(readFileSync(`${root}README.md`, 'utf8'))?.[1];

    expect({ code, stderr, rest }).toEqual({ code: 0, stderr: '', rest: [] });
    expect(about).toContain(`» ${title}: `);
    expect(about).toContain('The licence in LICENSE is: MIT License.');
    expect(licence).toMatch(
      /^» "MIT" is in \d+ lines of \d+ files: .*LICENSE.*\. LICENSE has \d+ bytes\. In the folder above, I may not look\.$/,
    );
    expect(stdout).toContain('✗ list_files {"path":".."}  Denied by the guard');
    expect(stdout).toMatch(
      /^formatRun\(result\) draws each run: .*\n\ncompleted: 3 turns, 3 tool calls, \d+ \+ \d+ tokens$/m,
    );
    expect(stdout).toMatch(
      /^├─ turn 1 {2}search_files \{"text":"MIT"\} ✓, list_files \{"path":"\.\."\} ✗ \(Denied by the guard: .*\), .*✓\n│ +guard: block list_files$/m,
    );
  });

  test('shows readable previews of tool results', () => {
    const { stdout } = run;
    const previews = stdout.split('\n').flatMap((line) => /^ {2}[✓✗] \S+ \{.*?\} {2}(.+)$/.exec(line)?.[1] ?? []);

    expect(previews).toHaveLength(6);
    expect(previews[0]).toMatch(/^path: \. · entries: AGENTS\.md, CHANGELOG\.md, .*\S …$/);
    // Parallel calls end in any order.
    expect(previews).toContainEqual(expect.stringMatching(/^# Keelson \(\d+ lines\)$/));
    expect(previews.join()).not.toMatch(/[{\\]/);
  });

  test('prints its answers word by word', () => {
    const lines = readFileSync(writes, 'utf8').trimEnd().split('\n');
    const written = lines.map((line) => String(JSON.parse(line)));
    const firstAnswer = written.slice(written.findIndex((text) => text.startsWith('» ')));

    expect(firstAnswer.slice(0, 3).join('').length).toBeLessThan(60);
    expect(firstAnswer.length).toBeGreaterThan(20);
  });

  test('approves the call of the MCP server by itself if there is no terminal', () => {
    const { stdout } = run;
    const question = 'Allow mcp__files__get_file_info {"path":"LICENSE"}, a tool of another program? [y/N]';

    expect(stdout.match(/Allow /g)).toHaveLength(1);
    expect(stdout).toContain(`  ${question} y (no terminal: the script approves)\n`);
  });

  test('ends with commands to try, each for a file or script that exists', () => {
    const { stdout } = run;
    const [, steps = ''] = stdout.split('\nTry next:\n');
    const files = [...steps.matchAll(/(?:examples|docs)\/\S+/g)].map(([path]) => path);

    expect(steps.split('\n')).toHaveLength(7);
    expect(steps).toContain('npm run demo -- <folder>');
    expect(files.filter((path) => existsSync(root + path))).toEqual(files);
    expect(files).toHaveLength(2);
  });

  test('writes a trace of each run into the folder that it prints, which belongs to the user', () => {
    const [, traces = ''] = /cli\.ts trace (\S+)/.exec(run.stdout) ?? [];
    const trace = expect.stringMatching(/\.trace\.jsonl$/);

    expect(traces).toBe(join(folder, `keelson-traces-${process.getuid?.() ?? 'demo'}`));
    expect(readdirSync(traces)).toEqual([trace, trace]);
  });

  test('falls back to the script if the model fails, and says so', async () => {
    const env = { OPENAI_API_KEY: 'sk-demo', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };
    const { code, stdout } = await runDemo({ env });

    expect(code).toBe(0);
    expect(stdout).toContain('Model "gpt-5-mini" failed: ');
    expect(stdout).toContain('a script instead of a model (the model failed)');
    expect(answersIn(stdout)).toHaveLength(2);
  });
});

describe('the demo on another folder', () => {
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
    writeFileSync(join(folder, 'readme.md'), '\u001b[31m\n# Skiff\n\nA very small boat. It floats.\n');
    writeFileSync(join(folder, 'LICENCE'), '\nISC License\n');
    symlinkSync('/etc', join(folder, 'outside'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('answers about that folder, and prints no control characters', async () => {
    const { code, stdout } = await runDemo({ args: [folder] });

    expect(code).toBe(0);
    expect(answersIn(stdout)).toEqual([
      '» Skiff: A very small boat (3 entries at the top). The licence in LICENCE is: ISC License.',
      '» "ISC" is in 1 lines of 1 files: LICENCE. LICENCE has 13 bytes. In the folder above, I may not look.',
    ]);
    expect(stdout).not.toContain('\u001b');
  });

  test('uses a tool of the real filesystem server, behind the same lifecycles, and leaves nothing running', async () => {
    const run = runDemo({ args: [folder] });
    const server = await vi.waitUntil(() => processesWith(`server-filesystem/dist/index.js\0${folder}\0`)[0], 20_000);
    const { code, stdout, stderr } = await run;

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('MCP:    files is connected, with 2 tools\n');
    expect(stdout).toContain('✓ mcp__files__get_file_info {"path":"LICENCE"}  size: 13 (7 lines)\n');
    expect(stdout).toMatch(/^├─ turn 1 .*mcp__files__get_file_info \{"path":"LICENCE"\} ✓$/m);
    expect(isGone(server)).toBe(true);
    expect(processesWith(folder)).toEqual([]);
  });

  test('gives the same answers through the OpenAI client and a local server', async () => {
    await using server = await startExplorerServer();
    const env = { OPENAI_API_KEY: 'sk-demo', OPENAI_BASE_URL: server.baseURL, OPENAI_MODEL: 'loopback' };
    const scripted = await runDemo({ args: [folder] });
    const networked = await runDemo({ args: [folder], env });

    expect({ code: networked.code, stderr: networked.stderr }).toEqual({ code: 0, stderr: '' });
    expect(networked.stdout).toContain(`model:  loopback at ${server.baseURL}`);
    expect(answersIn(networked.stdout)).toEqual(answersIn(scripted.stdout));
    expect(server.requests).toHaveLength(5);
    expect(server.requests[0]?.body).toMatchObject({ model: 'loopback', stream: true });
    expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-demo');
  });

  test('refuses a path that is not a folder', async () => {
    const { code, stderr } = await runDemo({ args: [join(folder, 'missing')] });

    expect(code).toBe(1);
    expect(stderr).toContain(`"${join(folder, 'missing')}" is not a folder.`);
  });
});
