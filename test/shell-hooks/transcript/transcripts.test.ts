import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MemorySessionStore } from 'keelson';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import {
  agentWith,
  countingTool,
  type HookLab,
  hooksIn,
  recorded,
  records,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const folder = () => join(lab.home, '.keelson/sessions/transcripts');

interface Line {
  readonly type: string;
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly sessionId: string;
  readonly message?: { readonly role: string; readonly content: unknown };
}

function linesOf(path: string): readonly Line[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Hooks that copy the transcript, as it is at their event, to a file of that event. */
const copyAt = (event: string) => [{ hooks: [{ type: 'command', command: `sh copy.sh ${event}`, timeout: 30 }] }];
const COPY = `#!/bin/sh
path=$(sed -E 's/.*"transcript_path":"([^"]*)".*/\\1/')
echo "$path" > path.txt
cp "$path" "$1.jsonl"
`;

/** A Stop hook in the style of a loop: it goes on until the last answer in the transcript contains the promise. */
const LOOP = `
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { transcript_path: path } = JSON.parse(input);
if (!existsSync('loop.txt')) process.exit(0);
if (!path || !existsSync(path)) {
  console.error('The transcript is missing. The loop stops.');
  rmSync('loop.txt');
  process.exit(0);
}
const lines = readFileSync(path, 'utf8').trim().split('\\n').filter((line) => line.includes('"role":"assistant"'));
const texts = lines.flatMap((line) => JSON.parse(line).message.content).filter(({ type }) => type === 'text');
if (texts.at(-1)?.text.includes('<promise>DONE</promise>')) rmSync('loop.txt');
else console.log(JSON.stringify({ decision: 'block', reason: readFileSync('loop.txt', 'utf8') }));
`;

function loopIn(place: HookLab, options: object) {
  place.write('loop.mjs', LOOP);
  place.write('loop.txt', 'Build the pier.');
  return claudeHooks(place, { Stop: [command(`${process.execPath} loop.mjs`, { timeout: 30 })] }, options);
}

describe('a transcript', () => {
  test('makes a Stop hook loop until its promise is in the last answer', async () => {
    const hooks = loopIn(lab, { transcript: 'claude' });
    const script = [says('One.'), says('Two.'), says('<promise>DONE</promise>'), says('never')];
    const { agent, model } = agentWith(lab, hooks, { script });

    const { text } = await (await agent.session({ id: 's1' })).run('go');

    expect(text).toBe('<promise>DONE</promise>');
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('Build the pier.');
    expect(lab.has('loop.txt')).toBe(false);
  });

  test('is not written for a hook that is denied', async () => {
    lab.write('.keelson/hooks.json', JSON.stringify({ hooks: [records('before_agent')] }));
    let isApproved = true;
    const hooks = hooksIn(lab, { discover: ['native'], approve: () => isApproved, transcript: 'claude' });
    const { agent } = agentWith(lab, hooks, { script: [says('A.'), says('B.')] });
    await (await agent.session({ id: 's1' })).run('one');
    isApproved = false;
    for (const { digest } of await hooks.gate.store.list()) await hooks.revoke(digest);
    await (await agent.session({ id: 's2' })).run('two').catch(() => {});

    expect(readdirSync(folder())).toEqual(['s1.jsonl']);
  });

  test('is missing for a session that no agent runs, and no file is created', async () => {
    const hooks = hooksIn(lab, { hooks: [records('before_tool')], transcript: 'claude' });
    const { agent } = agentWith(lab, hooks, {
      script: [calls('look', {}), says('A.')],
      tools: [countingTool('look').tool],
    });
    await (await agent.session({ id: 's1' })).run('one');
    await hooks.runner.run('before_tool', { tool_name: 'look' });
    await hooks.runner.run('before_tool', { tool_name: 'look', session_id: 's2' });
    const next = hooksIn(lab, { hooks: [records('before_tool')], transcript: 'claude' });
    await next.runner.run('before_tool', { tool_name: 'look', session_id: 's1' });

    const path = join(folder(), 's1.jsonl');
    expect(recorded(lab).map((input) => input.transcript_path)).toEqual([path, '', '', path]);
    expect(readdirSync(folder())).toEqual(['s1.jsonl']);
  });

  test('has the lines of Claude Code: one for each block, with names and arguments of its tools', async () => {
    lab.write('copy.sh', COPY);
    const hooks = claudeHooks(
      lab,
      { PreToolUse: copyAt('before'), PostToolUse: copyAt('after'), Stop: copyAt('stop') },
      {
        transcript: 'claude',
        sensitive: ['token'],
        toolNames: { claude: { run_command: { name: 'Bash', args: { line: 'command' } } } },
      },
    );
    const { tool } = countingTool('run_command');
    const script = [calls('run_command', { line: 'ls', token: 'secret-1' }), says('Done.')];
    const { agent } = agentWith(lab, hooks, { script, tools: [tool] });
    await (await agent.session({ id: 's1' })).run('go');

    const call = {
      type: 'tool_use',
      id: expect.any(String),
      name: 'Bash',
      input: { command: 'ls', token: '[redacted]' },
    };
    const before = linesOf(join(lab.workspace, 'before.jsonl'));
    expect(before.map(({ type, message }) => [type, message])).toEqual([
      ['user', { role: 'user', content: 'go' }],
      ['assistant', expect.objectContaining({ role: 'assistant', content: [call] })],
    ]);
    const stop = linesOf(join(lab.workspace, 'stop.jsonl'));
    expect(stop.slice(0, 2)).toEqual(before);
    expect(stop.slice(2).map(({ type, message }) => [type, message])).toEqual([
      [
        'user',
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: expect.any(String), content: 'done', is_error: false }],
        },
      ],
      ['assistant', expect.objectContaining({ content: [{ type: 'text', text: 'Done.' }] })],
    ]);
    expect(stop.map(({ parentUuid }) => parentUuid)).toEqual([null, ...stop.slice(0, -1).map(({ uuid }) => uuid)]);
    expect(new Set(stop.map(({ sessionId }) => sessionId))).toEqual(new Set(['s1']));
    const path = lab.read('path.txt').trim();
    expect(path).toBe(join(folder(), 's1.jsonl'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('of a session grows by its next runs, and is written again by the next process', async () => {
    lab.write('copy.sh', COPY);
    const store = new MemorySessionStore();
    const open = () => {
      const hooks = claudeHooks(lab, { Stop: copyAt('stop') }, { transcript: 'claude' });
      return agentWith(lab, hooks, { script: [says('A.'), says('B.')], store }).agent;
    };
    const first = await open().session({ id: 's1' });
    await first.run('one');
    await first.run('two');
    const before = linesOf(join(lab.workspace, 'stop.jsonl'));
    await (await open().session({ id: 's1' })).run('three');

    const contents = (lines: readonly Line[]) => lines.map(({ message }) => JSON.stringify(message?.content));
    expect(contents(before)).toEqual(['"one"', text('A.'), '"two"', text('B.')]);
    expect(contents(linesOf(join(lab.workspace, 'stop.jsonl')))).toEqual([...contents(before), '"three"', text('A.')]);
  });

  test.each(['../../etc/passwd', '.', 'a/b', 'a\nb', 'ä', ''.padEnd(300, 'x')])(
    'of a session with the id %j has a plain file name',
    async (id) => {
      lab.write('copy.sh', COPY);
      const hooks = claudeHooks(
        lab,
        { Stop: copyAt('stop') },
        { transcript: { format: 'claude', folder: join(lab.home, 't') } },
      );
      const { agent } = agentWith(lab, hooks, { script: [says('A.')] });
      await (await agent.session({ id })).run('one');

      expect(readdirSync(join(lab.home, 't'))).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.jsonl$/)]);
    },
  );

  test('that cannot be written is reported once, and the hook gets an empty path', async () => {
    lab.write('file', '');
    const options = { transcript: { format: 'claude', folder: join(lab.workspace, 'file/t') } } as const;
    const hooks = hooksIn(lab, { hooks: [records('after_agent')], ...options });
    const { agent } = agentWith(lab, hooks, { script: [says('A.'), says('B.')] });
    await agent.run('one');
    await agent.run('two');

    expect(lab.read('events.jsonl')).toMatch(/"transcript_path":""/);
    expect(hooks.status().diagnostics.filter(({ code }) => code === 'transcript-failed')).toHaveLength(1);
  });

  test.each([true, 'gemini', {}, { format: 'claude', folder: 'relative' }, { format: 'claude', path: '/x' }])(
    'is refused as an option: %j',
    (transcript) => {
      expect(() => hooksIn(lab, { transcript: transcript as never })).toThrow(/`transcript` must be 'claude'/);
    },
  );
});

function text(value: string): string {
  return JSON.stringify([{ type: 'text', text: value }]);
}
