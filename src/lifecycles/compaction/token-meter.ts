import type { RunContext } from '../../lifecycle/run-context.js';
import type { AssistantPart, Message } from '../../model/message.js';
import type { Usage } from '../../model/model.js';

/** The estimated number of characters in a token. */
export const CHARS_PER_TOKEN = 4;
const TOKENS_OF_MEDIA = 1_000;

/** Measures the number of tokens in the messages of a run or a session. */
export interface TokenMeter {
  /**
   * Returns the usage of the last response plus an estimate of the later messages. Estimates all messages if the array
   * was replaced since then.
   */
  sizeOf(messages: readonly Message[], run: RunContext): number;
  /** Stores the usage of a response. */
  learn(usage: Usage | undefined, run: RunContext): void;
}

interface Reading {
  readonly tokens: number;
  /** The number of messages that were sent to the model. */
  readonly count: number;
  /** The last message that was sent to the model. */
  readonly last: Message | undefined;
}

/** Makes a meter for all runs of an agent. */
export function createTokenMeter(): TokenMeter {
  const readings = new WeakMap<object, Reading>();
  return {
    sizeOf(messages, run) {
      const reading = readings.get(run.session ?? run);
      if (reading === undefined || messages[reading.count - 1] !== reading.last) return sum(messages);
      // The next message is the response, which the usage already includes.
      return reading.tokens + sum(messages.slice(reading.count + 1));
    },
    learn(usage, run) {
      const tokens = usage?.contextTokens ?? (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      const { length: count } = run.messages;
      if (tokens > 0) readings.set(run.session ?? run, { tokens, count, last: run.messages[count - 1] });
      else readings.delete(run.session ?? run);
    },
  };
}

/** Estimates tokens: a quarter of the characters, plus a fixed number for each image or file. */
export function tokensIn({ content }: { readonly content: string | readonly Part[] }): number {
  if (typeof content === 'string') return Math.ceil(content.length / CHARS_PER_TOKEN);
  return content.reduce((tokens, part) => tokens + tokensOf(part), 0);
}

function sum(messages: readonly Message[]): number {
  return messages.reduce((tokens, message) => tokens + tokensIn(message), 0);
}

type Part = AssistantPart | Exclude<Message['content'], string>[number];

function tokensOf(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return Math.ceil(part.text.length / CHARS_PER_TOKEN);
    case 'tool-call': {
      const input = part.invalidInput ?? JSON.stringify(part.input) ?? '';
      return Math.ceil((part.name.length + input.length) / CHARS_PER_TOKEN);
    }
    case 'tool-result':
      return tokensIn(part);
    case 'image':
    case 'file':
      return TOKENS_OF_MEDIA;
    default:
      // A part type of a single provider.
      return 0;
  }
}
