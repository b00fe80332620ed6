import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApprovalRequest, Approver } from './trust-decision.js';

/** The terminal that asks. Default: standard input, and standard error, which leaves standard output alone. */
export interface TerminalApproverOptions {
  readonly input?: (Readable & { readonly isTTY?: boolean }) | undefined;
  readonly output?: (Writable & { readonly isTTY?: boolean }) | undefined;
}

/**
 * Asks on the terminal, one question after another. Only `y` and `yes` are a yes: Enter is a no, and so is whatever is
 * no terminal, or was typed before. Shows the whole command line, and no character that could change what is seen of it.
 */
export function terminalApprover({
  input = process.stdin,
  output = process.stderr,
}: TerminalApproverOptions = {}): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return (request, { signal }) => {
    if (!input.isTTY || !output.isTTY) return false;
    const asked = last.then(async () => {
      if (signal.aborted) return false;
      const isStopped = await discardTyped(input);
      if (!isStopped && !signal.aborted && input.readable)
        return question({ input, output, signal }, describe(request));
      setRaw(input, false);
      return false;
    });
    last = asked.catch(() => {});
    return asked;
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
  setRaw(input, true);
  input.on('data', discard);
  await sleep(DISCARD_MS);
  input.off('data', discard);
  input.pause();
  return isStopped;
}

function setRaw(input: Readable & { readonly setRawMode?: (isRaw: boolean) => unknown }, isRaw: boolean): void {
  input.setRawMode?.(isRaw);
}

interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

function question({ input, output, signal }: Terminal, text: string): Promise<boolean> {
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  return new Promise<boolean>((resolve) => {
    const onAbort = () => lines.close();
    signal.addEventListener('abort', onAbort, { once: true });
    // Ctrl-C, the end of the input, and the end of the wait.
    lines.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(false);
    });
    lines.question(`${text}\nAllow exactly this? [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
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
    ...Object.entries(item.details ?? {}).map(([name, value]) => [name, JSON.stringify(value)] as const),
    ...Object.entries(request.scripts).map(([path, hash]) => ['script', `${path} ${hash} ${news(path)}`] as const),
    ['with files', item.files?.join(', ')],
    ['files bound', String(files.filter(({ type }) => type !== 'directory').length)],
    [
      'NOT bound',
      unbound.length > 0 ? `what lies in ${unbound.map((path) => JSON.stringify(path)).join(', ')}` : undefined,
    ],
    ['digest', digest],
  ];
  function news(path: string): string {
    if (previousScripts === undefined) return '';
    return previousScripts[path] === request.scripts[path] ? '(unchanged)' : '(changed)';
  }
  const shown = rows.filter(([, text]) => text !== undefined && text !== '');
  const lines = shown.map(([name, text]) => `  ${visible(name)}: ${visible(text ?? '')}`);
  return [`\nThe ${item.kind} ${visible(JSON.stringify(item.name))} of this workspace ${title}.`, ...lines].join('\n');
}

/** Control characters, those that turn, hide or break the text around them, and other blanks, as their numbers. */
function visible(text: string): string {
  const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
  return text.replaceAll(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
