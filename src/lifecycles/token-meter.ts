import type { RunContext } from '../lifecycle/run-context.js';
import type { AssistantPart, Message } from '../model/message.js';
import type { Usage } from '../model/model.js';

const CHARS_PER_TOKEN = 4;
const TOKENS_OF_MEDIA = 1_000;

/** Knows how many tokens the messages of each run, or of each session, are. */
export interface TokenMeter {
  /** By the last response and what came after it; where the list is another one meanwhile, by its characters. */
  sizeOf(messages: readonly Message[], run: RunContext): number;
  /** Takes the count of a response. */
  learn(usage: Usage | undefined, run: RunContext): void;
}

interface Reading {
  readonly tokens: number;
  /** How many messages the model was sent, and the last of them. */
  readonly count: number;
  readonly last: Message | undefined;
}

/** One meter serves all runs of an agent. */
export function createTokenMeter(): TokenMeter {
  const readings = new WeakMap<object, Reading>();
  return {
    sizeOf(messages, run) {
      const reading = readings.get(run.session ?? run);
      if (reading === undefined || messages[reading.count - 1] !== reading.last) return sum(messages);
      // The response itself is the next message, and was counted.
      return reading.tokens + sum(messages.slice(reading.count + 1));
    },
    learn(usage, run) {
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      const { length: count } = run.messages;
      if (tokens > 0) readings.set(run.session ?? run, { tokens, count, last: run.messages[count - 1] });
      else readings.delete(run.session ?? run);
    },
  };
}

/** A rough count: a quarter of the characters, and a fixed number for each picture or file. */
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
      // A part of a type that only its provider knows.
      return 0;
  }
}
