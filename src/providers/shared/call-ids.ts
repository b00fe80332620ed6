import type { WireObject } from './wire.js';

/** The ids of calls that a provider accepts, and how to make others fit. */
export interface IdRule {
  readonly taken: RegExp;
  /** The form of ids made here. A given id of that form is made anew, or two calls might share one. */
  readonly made: RegExp;
  make(count: number): string;
}

/** Accepted by most providers. */
export const PLAIN_IDS: IdRule = {
  taken: /^[\w-]{1,64}$/,
  made: /^toolu_made_/,
  make: (count) => `toolu_made_${count}`,
};

/** For OpenAI's chat completions. */
export const OPENAI_IDS: IdRule = {
  taken: /^.{0,40}$/s,
  made: /^call_made_short_/,
  make: (count) => `call_made_short_${count}`,
};

/** For Mistral's models. */
export const MISTRAL_IDS: IdRule = {
  taken: /^[a-z0-9]{9}$/i,
  made: /^call\d{5}$/,
  make: (count) => `call${String(count).padStart(5, '0')}`,
};

/** Gives each call of a conversation an id of its own that the provider accepts. */
export class CallIds {
  private readonly used = new Set<string>();
  private readonly latest = new Map<string, string>();

  constructor(private readonly rule: IdRule) {}

  ofCall(given: string): string {
    const { taken, made, make } = this.rule;
    const isTaken = taken.test(given) && !made.test(given) && !this.used.has(given);
    const id = isTaken ? given : make(this.used.size + 1);
    this.used.add(id);
    this.latest.set(given, id);
    return id;
  }

  /** The id of the latest call that had the given one. */
  ofResult(given: string): string {
    return this.latest.get(given) ?? given;
  }
}

/** A tool's name, limited to the characters that providers accept. */
export function takenName(name: string, longest: number): string {
  return name.replace(/[^\w-]/g, '_').slice(0, longest);
}

/**
 * A conversation as Mistral's models take it: they refuse a user message right after results, as one follows where a run
 * ended early, or with pictures. `answer` is the content of the message between the two.
 */
export function withTurns(messages: readonly WireObject[], answer: unknown): readonly WireObject[] {
  return messages.flatMap((message, at) => {
    const isEarly = message.role === 'user' && messages[at - 1]?.role === 'tool';
    return isEarly ? [{ role: 'assistant', content: answer }, message] : [message];
  });
}
