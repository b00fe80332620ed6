import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answering, bash, type CasesByPlugin, calling, type Place, runs, write } from './case.js';
import { repository } from './guards.js';

const subagent = (type: string, prompt: string) =>
  ({ name: 'Agent', args: { subagent_type: type, prompt, description: 'x' } }) as const;

function hotNotes({ workspace }: Place): void {
  mkdirSync(join(workspace, 'wiki'));
  writeFileSync(join(workspace, 'wiki/hot.md'), 'Hot & cold <facts>\n');
}

function stories({ workspace }: Place): void {
  const userStories = [
    { id: 'US-1', description: 'Log in', passes: true },
    { id: 'US-3', description: 'Log out', priority: 3 },
    { id: 'US-2', description: 'Reset <the> password', priority: 2 },
  ];
  writeFileSync(join(workspace, 'prd.json'), JSON.stringify({ userStories }));
}

function isStaged({ workspace }: Place): boolean {
  return execFileSync('git', ['diff', '--cached', '--name-only'], { cwd: workspace, encoding: 'utf8' }) === 'a.txt\n';
}

/** True if the notes of the session name the command, and the end of the session. */
function isLogged({ home, session }: Place): boolean {
  const folder = join(home, '.claude/sessions');
  if (!existsSync(folder)) return false;
  const notes = readdirSync(folder).filter((name) => name.endsWith(`_${session}.md`));
  const text = notes.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  return text.includes('make all') && /^ended: .+$/m.test(text);
}

/** Plugins that tell the model something, or that write files. */
export const contexts: CasesByPlugin = {
  'anthropics+claude-plugins-official/plugins/explanatory-output-style': [
    answering(['x'], { seen: "You are in 'explanatory' output style mode" }),
  ],
  'anthropics+claude-plugins-official/plugins/learning-output-style': [
    answering(['x'], { seen: "learning' output style mode" }),
  ],
  'obra+superpowers': [answering(['x'], { seen: '<EXTREMELY_IMPORTANT>\nYou have superpowers.' })],
  '0xrdan+claude-router': [
    answering(
      ['x'],
      { seen: 'Task(subagent_type="claude-router:' },
      { prompt: 'Design a distributed architecture for the payment service and analyse its security.' },
    ),
  ],
  '0-BSCode+sage': [
    calling(
      subagent('artifact-clerk', 'checkpoint with a new card'),
      runs({ seen: '[CHECKPOINT GUARD] This checkpoint includes new cards' }),
    ),
    calling(subagent('other', 'checkpoint'), runs({ unseen: '[CHECKPOINT GUARD]' })),
  ],
  '0x1Jar+codex-bug': [
    answering(['x'], {
      seen: 'Bug bounty session started. Read full scope before touching assets. Use /recon <target> or /hunt <target>',
      modelCalls: 1,
    }),
  ],
  'jaidhyani+cc-plugin-marketplace/plugins/timestamp-tracker': [
    answering(['x'], { seen: '[Timestamps] User submitted: ' }),
  ],
  '0x7067+ai-sdlc': [
    answering(['x'], { seen: 'SDLC LIFECYCLE (installed policy):' }, { prepare: repository }),
    answering(['x'], { unseen: 'SDLC LIFECYCLE' }),
  ],
  '0x156+claude-obsidian': [answering(['x'], { seen: 'Hot & cold <facts>' }, { prepare: hotNotes })],
  '1998x-stack+ralph-loop': [
    answering(
      ['x'],
      { seen: 'PRD: 1/3 complete, 2 pending\n[ralph-loop] Next: US-2 — Reset <the> password' },
      { prepare: stories },
    ),
    answering(['x'], { seen: '[ralph-loop] No prd.json found', modelCalls: 1 }),
  ],
  'karanb192+claude-code-hooks/plugins/auto-stage': [
    calling(write('a.txt'), runs({ effect: isStaged }), { prepare: repository }),
    calling(bash('make all'), runs({ effect: (place) => !isStaged(place) }), { prepare: repository }),
  ],
  // The hook of PostToolUse is asynchronous. The session ends after it.
  'karanb192+claude-code-hooks/plugins/session-logger': [calling(bash('make all'), runs({ effect: isLogged }))],
};
