import { execFileSync } from 'node:child_process';
import type { Tool } from 'keelson';
import { describe, expect, test } from 'vitest';
import { augmentedRun, block } from '../support/concepts/augmented-run.js';

const safely = async (input: object, annotations?: Tool['annotations']) =>
  (await augmentedRun(input, { profile: 'safe' }, { annotations })).received[0];

describe('the safe profile', () => {
  test.each(['if [[ -f x ]]; then echo yes; fi', '[[ $a == b ]] && rm x', 'echo [["a"]]', 'x[[$(id)]]', '[[:alpha:]]'])(
    'H11: does not treat shell syntax as a link: %s',
    async (command) => {
      const { received, log } = await augmentedRun({ command }, { profile: 'safe' });

      expect(received).toEqual([{ command }]);
      expect(log).toMatchObject([{ level: 'debug', extra: { reason: 'no_concepts' } }]);
    },
  );

  test.each(['command', 'content', 'text', 'input', 'query', 'message'])('leaves `%s` unchanged', async (field) => {
    expect(await safely({ [field]: '[[auth]]' })).toEqual({ [field]: '[[auth]]', _maenifold_context: 'about auth' });
  });

  test('puts the context into `prompt`, except of a destructive tool', async () => {
    const key = { _maenifold_context: 'about auth' };

    expect(await safely({ command: 'ls', prompt: '[[auth]]' })).toEqual({
      command: 'ls',
      prompt: `${block('about auth')}\n\n[[auth]]`,
    });
    expect(await safely({ prompt: '[[auth]]' }, { destructive: true })).toEqual({ prompt: '[[auth]]', ...key });
  });

  test('puts the context into the fields of a read-only tool, except `command`', async () => {
    expect(await safely({ command: 'x', query: '[[auth]]' }, { readOnly: true })).toEqual({
      command: 'x',
      query: `${block('about auth')}\n\n[[auth]]`,
    });
  });

  test('H12: keeps a command that bash can run, unlike the literal profile', async () => {
    const input = { command: 'echo "see [[auth]]"' };
    const run = ({ command }: { command: string }) =>
      execFileSync('bash', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const safe = (await safely(input)) as typeof input;
    const { received } = await augmentedRun(input);

    expect(run(safe)).toBe('see [[auth]]\n');
    expect(() => run(received[0] as typeof input)).toThrow('Command failed');
  });
});
