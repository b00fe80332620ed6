import type { WireObject } from './wire.js';

/** The call ids that a provider accepts, and a way to generate such an id. */
export interface IdRule {
  readonly accepted: RegExp;
  /**
   * Matches ids that `make` generates. If a received id looks the same, it is replaced, because `make` might give the
   * same id to another call.
   */
  readonly generated: RegExp;
  make(count: number): string;
}

export const PLAIN_IDS: IdRule = {
  accepted: /^[\w-]{1,64}$/,
  generated: /^toolu_made_/,
  make: (count) => `toolu_made_${count}`,
};

export const OPENAI_IDS: IdRule = {
  accepted: /^.{0,40}$/s,
  generated: /^call_made_short_/,
  make: (count) => `call_made_short_${count}`,
};

/** Rules for call ids in the Responses API, which accepts longer ids than chat completions. */
export const RESPONSES_IDS: IdRule = {
  accepted: /^.{1,64}$/s,
  generated: /^call_made_long_/,
  make: (count) => `call_made_long_${count}`,
};

export const MISTRAL_IDS: IdRule = {
  accepted: /^[a-z0-9]{9}$/i,
  generated: /^call\d{5}$/,
  make: (count) => `call${String(count).padStart(5, '0')}`,
};

/** Gives each tool call of a conversation a unique id that the provider accepts. */
export class CallIds {
  private readonly used = new Set<string>();
  private readonly latest = new Map<string, string>();

  constructor(private readonly rule: IdRule) {}

  /**
   * Returns the id to send for a tool call. An id that the same model gave (`isOwn`) stays, because a model may depend
   * on its form. For example, Kimi needs ids such as `functions.search:0`.
   */
  ofCall(given: string, isOwn: boolean): string {
    const { accepted, generated, make } = this.rule;
    const isAccepted = (isOwn && given !== '') || accepted.test(given);
    const isKept = isAccepted && !generated.test(given) && !this.used.has(given);
    const id = isKept ? given : make(this.used.size + 1);
    this.used.add(id);
    this.latest.set(given, id);
    return id;
  }

  /** Returns the id to send for the result of a call: the new id of the latest call with this original id. */
  ofResult(given: string): string {
    return this.latest.get(given) ?? given;
  }
}

/** Returns a tool name that providers accept: only letters, digits, `_` and `-`, and at most `longest` characters. */
export function acceptedName(name: string, longest: number): string {
  return name.replace(/[^\w-]/g, '_').slice(0, longest);
}

/**
 * Inserts an assistant message between tool results and a user message, because Mistral's models refuse a user message
 * directly after tool results. This order occurs after a run that ended early, or returned images.
 *
 * `answer` is the content of the inserted message.
 */
export function withTurns(messages: readonly WireObject[], answer: unknown): readonly WireObject[] {
  return messages.flatMap((message, at) => {
    const isEarly = message.role === 'user' && messages[at - 1]?.role === 'tool';
    return isEarly ? [{ role: 'assistant', content: answer }, message] : [message];
  });
}
