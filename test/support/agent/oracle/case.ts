/** The possible actions of a hook in a random case. */
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

/** The possible actions of a wrap hook in a random case. */
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

/**
 * A lifecycle of a random case. The n-th call of a hook does the n-th of its actions, and starts again after the last.
 */
export interface Part {
  readonly name: string;
  readonly priority: number;
  readonly onFailure: 'throw' | 'continue' | 'block';
  /** True if the lifecycle has a timeout. Without a timeout, a hook throws instead of hanging. */
  readonly isTimed: boolean;
  readonly acts: { readonly [point in Thread]?: readonly ThreadAct[] | undefined } & {
    readonly [point in Wrap]?: readonly WrapAct[] | undefined;
  };
}

/** The outcome of one model call: a failure, a text, or tool calls, possibly in a response that was cut off. */
export type Step = 'fails' | 'says' | { readonly calls: readonly string[]; readonly cut: boolean };

/** A random case to predict. After the end of its script, the model answers with a text. */
export interface Case {
  readonly parts: readonly Part[];
  readonly script: readonly Step[];
  readonly maxTurns: number;
  readonly parallel: boolean | number;
  /** True for `atLimit: 'answer'`: one more model call without tools after the last turn. */
  readonly lastWord: boolean;
  /** The number of runs. Each run continues from the messages of the previous run. */
  readonly runs: readonly Decide[];
  /** True if the runs are in a session and continue from the stored messages. */
  readonly inSession: boolean;
}

/** Options of a resumed run: if it has an input, and which of the open calls, by position, are approved. */
export interface Decide {
  readonly input: boolean;
  readonly approved: readonly boolean[];
}

/** The outcome of a run, as strings. */
export interface Outcome {
  readonly log: readonly string[];
  readonly decisions: readonly string[];
  readonly messages: readonly string[];
  readonly history: readonly string[];
  readonly end: string;
  /** One token for each model call with a response. */
  readonly tokens: number;
  readonly pending: readonly string[];
  /** The messages of the session after the run. */
  readonly stored: readonly string[];
}
