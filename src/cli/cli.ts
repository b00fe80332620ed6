#!/usr/bin/env node
import { describeError } from '../errors.js';
import { safeText } from '../internal/safe-text.js';
import type { Command } from './command.js';
import { explainCommand } from './explain-command.js';
import { initCommand } from './init-command.js';
import { traceCommand } from './trace-command.js';

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['explain', explainCommand],
  ['trace', traceCommand],
  ['init', initCommand],
]);

/**
 * Runs a command of the `keelson` program. Returns the exit code: 2 for unknown arguments, 1 for a command that fails.
 */
async function main([name = '', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === 'help') return printUsage(process.stdout, 0);
  try {
    const code = (await COMMANDS.get(name)?.run(args)) ?? 'usage';
    return code === 'usage' ? printUsage(process.stderr, 2) : code;
  } catch (error) {
    process.stderr.write(`${safeText(describeError(error))}\n`);
    return 1;
  }
}

function printUsage(to: NodeJS.WriteStream, code: number): number {
  const texts = [...COMMANDS.values()].map(({ usage, summary }) => `  keelson ${usage}\n    ${summary}\n`);
  to.write(`Usage:\n\n${texts.join('\n')}`);
  return code;
}

process.exitCode = await main(process.argv.slice(2));
