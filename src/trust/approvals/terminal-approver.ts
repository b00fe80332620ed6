import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { safeText } from '../../internal/safe-text.js';
import type { ApprovalRequest, Approver } from '../decision.js';

/** The streams of the terminal. Default: standard input and standard error, which keeps standard output free. */
export interface TerminalApproverOptions {
  readonly input?: (Readable & { readonly isTTY?: boolean }) | undefined;
  readonly output?: (Writable & { readonly isTTY?: boolean }) | undefined;
}

/**
 * Asks for approval on the terminal, one prompt at a time. Shows the whole command line, with hidden characters
 * escaped.
 *
 * Only `y` and `yes` approve. Anything else refuses, including Enter, input typed before the prompt, and a stream that
 * is not a terminal.
 *
 * @example
 * const agent = new Agent({ model, loaders: [shellHooks({ approve: terminalApprover() })] });
 */
export function terminalApprover({
  input = process.stdin,
  output = process.stderr,
}: TerminalApproverOptions = {}): Approver {
  return (request, { signal }) => {
    if (!input.isTTY || !output.isTTY) return false;
    const asked = (lastAsked.get(input) ?? Promise.resolve()).then(async () => {
      if (signal.aborted) return false;
      const giveBack = borrow(input);
      try {
        if (await discardTyped(input)) return false;
        if (signal.aborted || !input.readable) return false;
        return await question({ input, output, signal }, describe(request));
      } finally {
        giveBack();
      }
    });
    lastAsked.set(
      input,
      asked.catch(() => {}),
    );
    return asked;
  };
}

/** The last prompt per input stream. Several approvers share one terminal, so their prompts must queue. */
const lastAsked = new WeakMap<Readable, Promise<unknown>>();

type Input = Readable & { readonly isRaw?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };

/**
 * Takes the input away from other listeners, so that a host with its own prompt does not receive the answer as well.
 *
 * The returned function restores the listeners and the mode. Otherwise a host could wait forever on a paused stream.
 */
function borrow(input: Input): () => void {
  const isFlowing = input.readableFlowing === true;
  const isRaw = input.isRaw === true;
  const taken = ['readable', 'data', 'keypress'].map((event) => ({ event, listeners: input.rawListeners(event) }));
  for (const { event } of taken) input.removeAllListeners(event);
  input.setRawMode?.(true);
  return () => {
    input.setRawMode?.(isRaw);
    for (const { event, listeners } of taken) {
      for (const listener of listeners) input.on(event, listener as (...args: unknown[]) => void);
    }
    if (isFlowing) input.resume();
    else input.pause();
  };
}

const DISCARD_MS = 50;

/**
 * Discards input that was typed before the prompt appeared. Returns true if it contained Ctrl-C, which refuses.
 *
 * Needs raw mode: otherwise the terminal keeps a line until Enter is pressed.
 */
async function discardTyped(input: Readable): Promise<boolean> {
  let isStopped = false;
  const discard = (typed: Buffer | string) => {
    isStopped ||= typed.includes('\u0003');
  };
  input.on('data', discard);
  input.resume();
  await sleep(DISCARD_MS);
  input.off('data', discard);
  return isStopped;
}

interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

async function question({ input, output, signal }: Terminal, text: string): Promise<boolean> {
  // readline pauses its input on close and ends raw mode, so it must not own the terminal stream.
  const typed = new PassThrough();
  input.pipe(typed);
  const lines = createInterface({ input: typed, output, terminal: true, historySize: 0 });
  const answered = await new Promise<string>((resolve) => {
    const onAbort = () => lines.close();
    signal.addEventListener('abort', onAbort, { once: true });
    // Emitted for Ctrl-C, for the end of the input, and on abort.
    lines.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      resolve('');
    });
    lines.question(`${text}\nAllow exactly this? [y/N] `, resolve);
  });
  lines.close();
  input.unpipe(typed);
  return /^y(es)?$/i.test(answered.trim());
}

function describe(request: ApprovalRequest): string {
  const { item, why, files, unbound, previousScripts, digest } = request;
  const title = why === 'new' ? 'is new' : 'has CHANGED since you approved it';
  const rows: (readonly [string, string | undefined])[] = [
    ['defined in', item.source],
    ['extension', item.extension],
    ['directory', item.root],
    ['event', item.event],
    ...request.argv.map((text, at) => [at === 0 ? 'runs' : `  argument ${at}`, JSON.stringify(text)] as const),
    ['run by', item.shell ? 'a shell' : undefined],
    ['program', request.executable],
    ['working directory', item.command === undefined ? undefined : request.cwd],
    ...Object.entries(item.env ?? {}).map(([name, value]) => ['sets', `${name}=${JSON.stringify(value)}`] as const),
    ['reads', item.reads?.join(', ')],
    // Details come from the plugin. The prefix keeps them from imitating the other rows.
    ...Object.entries(item.details ?? {}).map(([name, value]) => [`detail ${name}`, JSON.stringify(value)] as const),
    ...Object.entries(request.scripts).map(([path, hash]) => ['script', `${path} ${hash} ${news(path)}`] as const),
    ['declared files', item.files?.join(', ')],
    ['files covered', String(files.filter(({ type }) => type !== 'directory').length)],
    [
      'NOT covered',
      unbound.length > 0 ? `files in ${unbound.map((path) => JSON.stringify(path)).join(', ')}` : undefined,
    ],
    ['NOTE', request.note],
    ['digest', digest],
  ];
  function news(path: string): string {
    if (previousScripts === undefined) return '';
    return previousScripts[path] === request.scripts[path] ? '(unchanged)' : '(changed)';
  }
  const shownRows = rows.filter(([, text]) => text !== undefined && text !== '');
  const lines = shownRows.map(([name, text]) => `  ${shown(name)}: ${shown(text ?? '')}`);
  return [`\nThe ${item.kind} ${shown(JSON.stringify(item.name))} of this workspace ${title}.`, ...lines].join('\n');
}

function shown(text: string): string {
  return safeText(text, { escape: true });
}
