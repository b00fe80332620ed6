import { createInterface } from 'node:readline';
import type { ToolCallRequest } from 'keelson';
import type { ApprovalAnswer } from 'keelson/lifecycles';
import { bold, dim, isTerminal, type ProgressPrinter, plain } from './terminal.js';

/** Asks on the terminal if a tool call may run. Without a terminal the script approves the call. */
export async function askPerson(call: ToolCallRequest, printer: ProgressPrinter): Promise<ApprovalAnswer> {
  const question = `  ${bold('Allow')} ${call.name} ${plain(JSON.stringify(call.input))}, a tool of another program? [y/N] `;
  if (!isTerminal) {
    console.log(`${question}y ${dim('(no terminal: the script approves)')}`);
    return 'approve';
  }
  printer.hold();
  const isAllowed = /^y(es)?$/i.test((await answerTo(question, call.run.signal)).trim());
  printer.release();
  return isAllowed ? 'approve' : { deny: 'The person said no.' };
}

/** Resolves to the typed line; to an empty string if the run is aborted or the input ends. */
function answerTo(question: string, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const close = () => terminal.close();
  signal.addEventListener('abort', close);
  // A readline interface takes Ctrl-C from the terminal: this signal ends the demo as usual.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return new Promise<string>((resolve) => {
    terminal.question(question, resolve);
    terminal.on('close', () => {
      console.log();
      resolve('');
    });
  }).finally(() => {
    signal.removeEventListener('abort', close);
    terminal.removeAllListeners('close').close();
  });
}
