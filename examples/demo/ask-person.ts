import type { ToolCallRequest } from 'keelson';
import type { ApprovalAnswer } from 'keelson/lifecycles';
import { terminalAsk } from 'keelson/trust';
import { bold, dim, isTerminal, type ProgressPrinter, plain } from './terminal.js';

const ask = terminalAsk({ output: process.stdout });

/** Asks on the terminal if a tool call may run. Without a terminal the script approves the call. */
export async function askPerson(call: ToolCallRequest, printer: ProgressPrinter): Promise<ApprovalAnswer> {
  if (!isTerminal) {
    const question = `${bold('Allow')} ${call.name} ${plain(JSON.stringify(call.input))}, a tool of another program?`;
    console.log(`  ${question} [y/N] y ${dim('(no terminal: the script approves)')}`);
    return 'approve';
  }
  printer.hold();
  const answer = await ask(call, 'it belongs to another program');
  printer.release();
  return answer ?? { deny: 'The person did not decide.' };
}
