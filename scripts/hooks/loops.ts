import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answering, type CasesByPlugin, type Place, write } from './case.js';

const STATE = '.claude/ralph-loop.local.md';
const TASK = 'Build it with `a && b` <now>.';

/** The state file of ralph-loop. Newer versions of the plugin bind it to a session. */
function ralphState(isBound: boolean) {
  return ({ workspace, session }: Place) => {
    mkdirSync(join(workspace, '.claude'));
    const bound = isBound ? `session_id: ${session}\n` : '';
    const limits = 'max_iterations: 0\ncompletion_promise: "ALL DONE"\nstarted_at: "2026"\n';
    writeFileSync(join(workspace, STATE), `---\nactive: true\niteration: 1\n${bound}${limits}---\n\n${TASK}\n`);
  };
}

function improverState({ workspace }: Place): void {
  mkdirSync(join(workspace, '.claude'));
  const text = 'session_id: abc\niteration: 1\nmax_iterations: 20\nskill_path: x/SKILL.md\nskill_name: x\n';
  writeFileSync(join(workspace, '.claude/skill-improver.abc.local.md'), `---\n${text}---\n`);
}

function testsRule({ workspace }: Place): void {
  mkdirSync(join(workspace, '.claude'));
  const condition = '  - field: transcript\n    operator: not_contains\n    pattern: npm test\n';
  const head = `name: tests\nenabled: true\nevent: stop\naction: block\nconditions:\n${condition}`;
  writeFileSync(join(workspace, '.claude/hookify.tests.local.md'), `---\n${head}---\n\nRun the tests first.\n`);
}

function marathonState(mode: string) {
  return ({ workspace, session }: Place) => {
    mkdirSync(join(workspace, '.claude'));
    writeFileSync(join(workspace, 'tasks.md'), '- [x] Draft it\n- [ ] Index <it> & link it\n');
    const head = `session_id: ${session}\nmode: ${mode}\ncurrent_task: 1\ntotal_tasks: 2\nquota_zone: green\n`;
    writeFileSync(join(workspace, '.claude/marathon.local.md'), `---\n${head}tasks_file: tasks.md\n---\n`);
  };
}

const allDone = write('tasks.md', '- [x] Draft it\n- [x] Index <it> & link it\n');

/** Plugins whose hook of `Stop` asks the model to go on. All but marathon-mode read the transcript. */
export const loops: CasesByPlugin = {
  'anthropics+claude-plugins-official/plugins/ralph-loop': [
    answering(
      ['one', 'two', 'It is <promise>ALL DONE</promise>'],
      { modelCalls: 3, seen: TASK, gone: STATE },
      { prepare: ralphState(true) },
    ),
    answering(['one'], { modelCalls: 1 }),
  ],
  'anthropics+claude-code/plugins/ralph-wiggum': [
    answering(
      ['one', 'two', 'three', '<promise>ALL DONE</promise>'],
      { modelCalls: 4, seen: TASK, gone: STATE },
      { prepare: ralphState(false) },
    ),
  ],
  'trailofbits+skills/plugins/skill-improver': [
    answering(
      ['step', 'step', '<skill-improvement-complete>'],
      {
        modelCalls: 3,
        seen: 'Continue improving the skill at: x/SKILL.md',
        gone: '.claude/skill-improver.abc.local.md',
      },
      { prompt: 'Improve. Session ID: abc', prepare: improverState },
    ),
  ],
  'anthropics+claude-plugins-official/plugins/hookify': [
    answering(
      ['done', 'I ran the suite: npm test'],
      { modelCalls: 2, seen: 'Run the tests first.' },
      { prepare: testsRule },
    ),
  ],
  '1507-systems+marathon-mode': [
    answering(
      ['drafted', allDone, 'indexed'],
      { modelCalls: 3, seen: 'Task 2/2: Index <it> & link it' },
      { prepare: marathonState('orchestrate') },
    ),
    answering(['drafted'], { modelCalls: 1 }, { prepare: marathonState('advisory') }),
  ],
};
