import type { ShellHooks, ShellHooksOptions } from 'keelson/shell-hooks';
import { type HookLab, hooksIn } from './hook-lab.js';

/** Returns approved hooks from a Claude Code settings file in the workspace, with `toolNames` set. */
export function claudeHooks(lab: HookLab, hooks: object, options: ShellHooksOptions = {}): ShellHooks {
  lab.write('.claude/settings.json', JSON.stringify({ permissions: { allow: ['*'] }, env: { X: '1' }, hooks }));
  const toolNames = { claude: { run_command: 'Bash', write_file: 'Write' } };
  return hooksIn(lab, { discover: ['claude'], approve: () => true, toolNames, ...options });
}

/** A hook group with one command. */
export const command = (text: string, more: object = {}) => ({
  hooks: [{ type: 'command', command: text, timeout: 5, ...more }],
});
