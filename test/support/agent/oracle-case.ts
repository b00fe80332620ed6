/** What a hook of a case does, by the name of the act. */
export type ThreadAct =
  | 'passes'
  | 'continues'
  | 'approves'
  | 'changes'
  | 'compacts'
  | 'adds'
  | 'throws'
  | 'hangs'
  | 'is wrong'
  | 'rejects'
  | 'responds'
  | 'suspends'
  | 'ends well'
  | 'ends badly';

/** What a wrap of a case does. */
export type WrapAct =
  | 'hands on'
  | 'calls twice'
  | 'changes what goes in'
  | 'changes what comes out'
  | 'answers itself'
  | 'denies'
  | 'recovers'
  | 'replaces a failure'
  | 'adds'
  | 'throws before'
  | 'throws after'
  | 'hangs before'
  | 'hangs after'
  | 'is wrong'
  | 'suspends'
  | 'ends well'
  | 'ends badly';

export const THREADS = ['beforeAgent', 'beforeModel', 'beforeToolSelection', 'afterModel', 'afterAgent'] as const;
export const WRAPS = ['wrapModelCall', 'wrapToolCall'] as const;
export type Thread = (typeof THREADS)[number];
export type Wrap = (typeof WRAPS)[number];

/** A lifecycle of a case: at its n-th firing a hook does the n-th of its acts, and begins anew after the last. */
export interface Part {
  readonly name: string;
  readonly priority: number;
  readonly onFailure: 'throw' | 'continue' | 'block';
  /** Whether it has a time-out: where not, a hook that would hang throws. */
  readonly isTimed: boolean;
  readonly acts: { readonly [point in Thread]?: readonly ThreadAct[] | undefined } & {
    readonly [point in Wrap]?: readonly WrapAct[] | undefined;
  };
}

/** What the model does at one call: it fails, says a text, or calls these tools, perhaps in a response that was cut. */
export type Step = 'fails' | 'says' | { readonly calls: readonly string[]; readonly cut: boolean };

/** A run that is to be predicted. Beyond its script the model says. */
export interface Case {
  readonly parts: readonly Part[];
  readonly script: readonly Step[];
  readonly maxTurns: number;
  readonly parallel: boolean | number;
  /** Whether the model has a last word, without tools, where the turns are over. */
  readonly lastWord: boolean;
  /** How often the agent is run: each run goes on from what the one before it left. */
  readonly runs: readonly Decide[];
  /** Whether the runs are those of a session: they go on from what it stored. */
  readonly inSession: boolean;
}

/** Whether a run is given an input where it resumes calls, and which of those, by their place, are approved. */
export interface Decide {
  readonly input: boolean;
  readonly approved: readonly boolean[];
}

/** How a run went, in words. */
export interface Outcome {
  readonly log: readonly string[];
  readonly decisions: readonly string[];
  readonly messages: readonly string[];
  readonly history: readonly string[];
  readonly end: string;
  /** One for each model call that gave a response. */
  readonly tokens: number;
  readonly pending: readonly string[];
  /** What its session holds after it. */
  readonly stored: readonly string[];
}
