import { textOf } from 'keelson';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Runs one call of `ls` and an answer with hooks of Codex. Returns what the hooks changed and reported. */
async function runWith(hooks: object, ls: () => unknown = () => 'done') {
  lab.write('.codex/hooks.json', JSON.stringify({ hooks }));
  const toolNames = { codex: { run_command: 'Bash' } };
  const loader = hooksIn(lab, { discover: ['codex'], approve: () => true, toolNames });
  const { tool, inputs } = countingTool('run_command', ls);
  const script = [calls('run_command', { command: 'ls' }), says('one'), says('two')];
  const { agent, model } = agentWith(lab, loader, { script, tools: [tool] });
  const { text } = await agent.run('go');
  return { text, ran: inputs.length, sent: model.requests.flatMap(({ messages }) => messages.map(textOf)), loader };
}

const prints = (output: object | string) =>
  command(`cat > /dev/null; echo '${typeof output === 'string' ? output : JSON.stringify(output)}'`);

test('a guard with fields that Codex does not have guards all calls, and the fields are reported', async () => {
  const guard = command('exit 2', { if: 'Bash(git push *)', args: ['x'], asyncRewake: true });
  const { ran, loader } = await runWith({ PreToolUse: [guard] });

  expect(ran).toBe(0);
  expect(loader.status().diagnostics.filter(({ code }) => code === 'key-ignored')).toMatchObject([
    { message: expect.stringContaining('`if`') },
    { message: expect.stringContaining('`args`') },
    { message: expect.stringContaining('`asyncRewake`') },
  ]);
});

test('PostToolUse also runs after a failed call, once for each matcher', async () => {
  const hook = command('echo x >> ran');
  await runWith({ PostToolUse: [{ matcher: 'Bash', ...hook }, hook] }, () => {
    throw new RangeError('leak');
  });

  expect(lab.read('ran')).toBe('x\nx\n');
});

test('events that Codex does not have are errors, because their hooks may be guards', async () => {
  const { loader } = await runWith({ PostToolUseFailure: [command('true')] });

  expect(loader.status().diagnostics).toMatchObject([{ level: 'error', code: 'event-unsupported' }]);
});

test('context at Stop does not make the agent continue, and text there fails the hook', async () => {
  const context = prints({ hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'More.' } });
  const { text, sent, loader } = await runWith({ Stop: [context, prints('looks fine')] });

  expect(text).toBe('one');
  expect(sent.join()).not.toContain('More.');
  expect(loader.status().hooks.map(({ failures }) => failures)).toEqual([0, 1]);
  expect(
    loader
      .status()
      .diagnostics.map(({ message }) => message)
      .join(),
  ).toContain('additionalContext');
});

test('a result that a hook replaces in a way that Codex does not know stays, with a report', async () => {
  const { sent, loader } = await runWith({ PostToolUse: [prints({ hookSpecificOutput: { updatedToolOutput: 'x' } })] });

  expect(sent).toContain('done');
  expect(
    loader
      .status()
      .diagnostics.map(({ message }) => message)
      .join(),
  ).toContain('updatedToolOutput');
});
