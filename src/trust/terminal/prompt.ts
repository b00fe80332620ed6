import { createInterface } from 'node:readline';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { having } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';

/** The streams of the terminal. Default: standard input and standard error, so that standard output gets no prompts. */
export interface TerminalOptions {
  readonly input?: (Readable & { readonly isTTY?: boolean }) | undefined;
  readonly output?: (Writable & { readonly isTTY?: boolean }) | undefined;
}

const stream = having('a stream', {});
const rules = { input: stream, output: stream } satisfies OptionTable<TerminalOptions>;

/** Throws an OptionInvalidError if an option is unknown or invalid. */
export function checkTerminalOptions(options: TerminalOptions): void {
  validateOptions(options, rules);
}

/** Text to show before the prompt is repeated. */
export interface Reading {
  readonly show: string;
}

/** A question on a terminal. */
export interface Question<Answer> {
  readonly text: string;
  /** The last line of the question. The user types the answer after it. */
  readonly prompt: string;
  /** Converts a typed line to an answer, or to text to show. */
  readonly read: (line: string) => Answer | Reading | Promise<Answer | Reading>;
  /** The answer to Ctrl-C, the end of the input and an abort. */
  readonly refusal: Answer;
  /** Called before `refusal` is returned because of Ctrl-C. */
  readonly onInterrupt?: () => void;
}

/** True if both streams are a terminal. */
export function isTerminal({ input = process.stdin, output = process.stderr }: TerminalOptions): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Asks a question after all earlier questions on the same terminal are answered. Restores the state of the input. */
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

/** The last question of each input stream. All callers share one queue per terminal. */
const lastAsked = new WeakMap<Readable, Promise<unknown>>();

type Input = Readable & { readonly isRaw?: boolean; readonly setRawMode?: (isRaw: boolean) => unknown };

/**
 * Removes the listeners of the input, because a host that reads its own prompts would also receive the answer. The
 * returned function restores the listeners, the raw mode and the flow of the input.
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
    if (await discardTyped(input)) {
      question.onInterrupt?.();
      return question.refusal;
    }
    if (signal.aborted || !input.readable) return question.refusal;
    const line = await readLine(terminal, prompt, question.onInterrupt);
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
 * Discards characters that were typed before the question was shown. Needs raw mode, because otherwise the terminal
 * keeps them until Enter. Returns true if one of the characters was Ctrl-C.
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

/** Resolves to undefined after Ctrl-C, at the end of the input, and after an abort. */
async function readLine(
  { input, output, signal }: Terminal,
  prompt: string,
  onInterrupt?: () => void,
): Promise<string | undefined> {
  // Closing a readline interface pauses its input and ends raw mode, so the interface gets a stream of its own.
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
    lines.once('SIGINT', () => {
      onInterrupt?.();
      lines.close();
    });
    lines.question(prompt, resolve);
  });
  lines.close();
  input.unpipe(typed);
  return line;
}
