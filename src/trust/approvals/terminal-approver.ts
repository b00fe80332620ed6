import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { safeText } from '../../internal/safe-text.js';
import type { ApprovalRequest, Approver } from '../decision.js';

/** The terminal that asks. Default: standard input, and standard error, which leaves standard output alone. */
export interface TerminalApproverOptions {
  readonly input?: (Readable & { readonly isTTY?: boolean }) | undefined;
  readonly output?: (Writable & { readonly isTTY?: boolean }) | undefined;
}

/**
 * Asks on the terminal, one question after another. Only `y` and `yes` are a yes: Enter is a no, and so is whatever is
 * no terminal, or was typed before. Shows the whole command line, and no character that could change what is seen of it.
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

/** Two parts may have an approver each, and still there is one terminal. */
const lastAsked = new WeakMap<Readable, Promise<unknown>>();

type Input = Readable & { readonly isRaw?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };

/**
 * Nobody else hears what is typed meanwhile: to a host that reads its own prompts from this terminal the answer would be
 * one of them. Then the input is as it was, or such a host would wait on a paused one for ever.
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
 * What was typed before a question was seen is no answer to it, also where Enter is missing: only in raw mode is that
 * handed over. Gives whether Ctrl-C was among it, which is a no.
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
  // An input of its own: one that is closed would pause that of the terminal, and end its raw mode.
  const typed = new PassThrough();
  input.pipe(typed);
  const lines = createInterface({ input: typed, output, terminal: true, historySize: 0 });
  const answered = await new Promise<string>((resolve) => {
    const onAbort = () => lines.close();
    signal.addEventListener('abort', onAbort, { once: true });
    // Ctrl-C, the end of the input, and the end of the wait.
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
    ['lies in', item.root],
    ['event', item.event],
    ...request.argv.map((text, at) => [at === 0 ? 'runs' : `  argument ${at}`, JSON.stringify(text)] as const),
    ['through', item.shell ? 'a shell' : undefined],
    ['program', request.executable],
    ['in folder', item.command === undefined ? undefined : request.cwd],
    ...Object.entries(item.env ?? {}).map(([name, value]) => ['sets', `${name}=${JSON.stringify(value)}`] as const),
    ['reads', item.reads?.join(', ')],
    // Of a plugin these are its own words, and no row of ours.
    ...Object.entries(item.details ?? {}).map(([name, value]) => [`detail ${name}`, JSON.stringify(value)] as const),
    ...Object.entries(request.scripts).map(([path, hash]) => ['script', `${path} ${hash} ${news(path)}`] as const),
    ['with files', item.files?.join(', ')],
    ['files bound', String(files.filter(({ type }) => type !== 'directory').length)],
    [
      'NOT bound',
      unbound.length > 0 ? `what lies in ${unbound.map((path) => JSON.stringify(path)).join(', ')}` : undefined,
    ],
    ['NOTE', request.note],
    ['digest', digest],
  ];
  function news(path: string): string {
    if (previousScripts === undefined) return '';
    return previousScripts[path] === request.scripts[path] ? '(unchanged)' : '(changed)';
  }
  const told = rows.filter(([, text]) => text !== undefined && text !== '');
  const lines = told.map(([name, text]) => `  ${shown(name)}: ${shown(text ?? '')}`);
  return [`\nThe ${item.kind} ${shown(JSON.stringify(item.name))} of this workspace ${title}.`, ...lines].join('\n');
}

function shown(text: string): string {
  return safeText(text, { escape: true });
}
