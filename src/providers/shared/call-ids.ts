/** Which ids of calls a provider takes, and what it is given in place of others. */
export interface IdRule {
  readonly taken: RegExp;
  /** What ids made here look like; one that came so is made anew too, or two calls might have the same. */
  readonly made: RegExp;
  make(count: number): string;
}

/** Of certain characters, and not too many. */
export const PLAIN_IDS: IdRule = {
  taken: /^[\w-]{1,64}$/,
  made: /^toolu_made_/,
  make: (count) => `toolu_made_${count}`,
};

/** What OpenAI's chat completions take. */
export const OPENAI_IDS: IdRule = {
  taken: /^.{0,40}$/s,
  made: /^call_made_short_/,
  make: (count) => `call_made_short_${count}`,
};

/** What Mistral's models insist on. */
export const MISTRAL_IDS: IdRule = {
  taken: /^[a-z0-9]{9}$/i,
  made: /^call\d{5}$/,
  make: (count) => `call${String(count).padStart(5, '0')}`,
};

/** The ids of calls as a provider takes them, each for one call of the whole conversation. */
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

  /** A result follows its call. */
  ofResult(given: string): string {
    return this.latest.get(given) ?? given;
  }
}

/** A tool's name in the characters that providers take. */
export function takenName(name: string, longest: number): string {
  return name.replace(/[^\w-]/g, '_').slice(0, longest);
}
