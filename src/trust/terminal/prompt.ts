import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** The terminal that asks. Default: standard input, and standard error, which leaves standard output alone. */
export interface TerminalOptions {
  readonly input?: (Readable & { readonly isTTY?: boolean }) | undefined;
  readonly output?: (Writable & { readonly isTTY?: boolean }) | undefined;
}

/** Something to read before the question is asked again. */
export interface Reading {
  readonly show: string;
}

/** A question on a terminal. */
export interface Question<Answer> {
  readonly text: string;
  /** The last line, behind which the answer is typed. */
  readonly prompt: string;
  /** Reads a line that was typed. */
  readonly read: (line: string) => Answer | Reading | Promise<Answer | Reading>;
  /** The answer to Ctrl-C, the end of the input and an abort. */
  readonly refusal: Answer;
}

/** True if both streams are a terminal. */
export function isTerminal({ input = process.stdin, output = process.stderr }: TerminalOptions): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Asks one question after another on a terminal, whoever asks, and leaves the input as it was. */
export function askOnTerminal<Answer>(
  { input = process.stdin, output = process.stderr }: TerminalOptions,
  question: Question<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const asked = (lastAsked.get(input) ?? Promise.resolve()).then(async () => {
    if (signal.aborted) return question.refusal;
    const giveBack = borrow(input);
    try {
      return await converse({ input, output, signal }, question);
    } finally {
      giveBack();
    }
  });
  lastAsked.set(
    input,
    asked.catch(() => {}),
  );
  return asked;
}

/** Several functions may ask, and there is one terminal. */
const lastAsked = new WeakMap<Readable, Promise<unknown>>();

type Input = Readable & { readonly isRaw?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };

/**
 * Takes the listeners of the input away: a host that reads its own prompts would take the answer for one. The returned
 * function restores listeners, raw mode and flow; a host would wait on a paused input for ever.
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

interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

async function converse<Answer>(terminal: Terminal, question: Question<Answer>): Promise<Answer> {
  const { input, output, signal } = terminal;
  let prompt = `${question.text}\n${question.prompt}`;
  for (;;) {
    if (await discardTyped(input)) return question.refusal;
    if (signal.aborted || !input.readable) return question.refusal;
    const line = await readLine(terminal, prompt);
    const answer = line === undefined ? question.refusal : await question.read(line.trim());
    if (!isReading(answer)) return answer;
    output.write(`${answer.show}\n\n`);
    prompt = question.prompt;
  }
}

function isReading(answer: unknown): answer is Reading {
  return typeof answer === 'object' && answer !== null && 'show' in answer;
}

const DISCARD_MS = 50;

/**
 * Drops what was typed before the question was seen. Without Enter, only raw mode hands typed characters over. Returns true
 * if Ctrl-C was among the characters.
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

/** Undefined after Ctrl-C, the end of the input, and an abort. */
async function readLine({ input, output, signal }: Terminal, prompt: string): Promise<string | undefined> {
  // Closing a readline interface pauses its input and ends raw mode: the terminal's own input must not be closed.
  const typed = new PassThrough();
  input.pipe(typed);
  const lines = createInterface({ input: typed, output, terminal: true, historySize: 0 });
  const line = await new Promise<string | undefined>((resolve) => {
    const onAbort = () => lines.close();
    signal.addEventListener('abort', onAbort, { once: true });
    lines.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(undefined);
    });
    lines.question(prompt, resolve);
  });
  lines.close();
  input.unpipe(typed);
  return line;
}
