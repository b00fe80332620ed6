import { inspect } from 'node:util';
import { isObject } from '../../internal/json.js';
import { askOnTerminal, checkTerminalOptions, isTerminal, type Reading, type TerminalOptions } from './prompt.js';
import { shown, shownLines } from './shown-text.js';

/** The members of a tool call that the prompt shows or uses. */
export interface AskedCall {
  readonly name: string;
  /** The arguments that the tool will get. */
  readonly input: unknown;
  readonly run: {
    readonly signal: AbortSignal;
    /** Ends the run. Called on Ctrl-C. */
    readonly end?: (action: { readonly type: 'reject'; readonly reason: string; readonly by: string }) => void;
  };
}

/** An answer that `approval` takes; `undefined` leaves the call open. */
export type TerminalAnswer = 'approve' | 'deny' | { readonly deny: string } | undefined;

/**
 * Creates the option `ask` of the lifecycle `approval`. Shows the tool and its arguments on the terminal, one call at a
 * time. Only `y` and `yes` approve. `n <reason>` denies with a reason, and `l` leaves the call open. Any other line and
 * an abort deny. Ctrl-C ends the run with a RejectedError. Denies every call if there is no terminal.
 *
 * @example
 * const agent = new Agent({ model, tools, lifecycle: [approval({ tools: ['pay'], ask: terminalAsk() })] });
 */
export function terminalAsk(
  options: TerminalOptions = {},
): (call: AskedCall, reason: string, signal?: AbortSignal) => Promise<TerminalAnswer> {
  checkTerminalOptions(options);
  return async (call, reason, signal = call.run.signal) => {
    if (!isTerminal(options)) return { deny: 'there is no terminal to ask on' };
    const rows = argumentRows(call.input);
    const isCut = rows.some(({ isCut }) => isCut);
    const hint = isCut ? ['  Some arguments are shortened: type s to show more.'] : [];
    const text = [
      `\nThe tool ${shown(textOf(call.name), LONGEST_ROW)} needs approval: ${shown(reason, LONGEST_ROW)}`,
      ...rows.map(({ row }) => row),
      ...hint,
    ];
    return askOnTerminal<TerminalAnswer>(
      options,
      {
        text: text.join('\n'),
        prompt: 'Run it? [y/N, n <reason>, l for later] ',
        read: (line) => answerOf(line, call),
        refusal: 'deny',
        onInterrupt: () => call.run.end?.(INTERRUPTED),
      },
      signal,
    );
  };
}

const INTERRUPTED = { type: 'reject', reason: 'Ctrl-C was pressed at the prompt.', by: 'terminalAsk' } as const;

function answerOf(line: string, { input }: AskedCall): TerminalAnswer | Reading {
  if (/^y(es)?$/i.test(line)) return 'approve';
  if (/^l(ater)?$/i.test(line)) return undefined;
  if (/^s(how)?$/i.test(line)) return { show: shownLines(textOf(input, 2), LONGEST).join('\n') };
  const reason = /^no?\s+(.+)$/i.exec(line)?.[1];
  return reason === undefined ? 'deny' : { deny: reason };
}

const LONGEST = 60_000;
const LONGEST_ROW = 1_000;
const MOST_ROWS = 50;

interface Row {
  readonly row: string;
  readonly isCut: boolean;
}

function argumentRows(input: unknown): readonly Row[] {
  if (!isObject(input)) return [rowOf('arguments', input)];
  const names = Object.keys(input);
  const rows = names.slice(0, MOST_ROWS).map((name) => rowOf(name, input[name]));
  if (names.length <= MOST_ROWS) return rows;
  return [...rows, { row: `  … ${names.length - MOST_ROWS} more arguments`, isCut: true }];
}

function rowOf(name: string, value: unknown): Row {
  const text = textOf(value);
  return { row: `  ${shown(name, 100)}: ${shown(text, LONGEST_ROW)}`, isCut: text.length > LONGEST_ROW };
}

/** Returns a value as JSON, or as `inspect` shows it if JSON cannot represent it. */
function textOf(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? String(value);
  } catch {
    return inspect(value, { customInspect: false, depth: 10 });
  }
}
