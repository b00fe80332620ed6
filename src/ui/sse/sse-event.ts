import type { RunResult } from '../../agent/run-result.js';
import type { Usage } from '../../model/model.js';

/** A tool call that waits for a decision, or for its result. */
export interface SSEPendingCall {
  /** The id of the call. Inside other calls, behind the ids of `path` and `/`. */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Absent for a call of the run itself. */
  readonly path?: readonly string[] | undefined;
  /** The agent of the run of the call. Absent for a call of the run itself. */
  readonly agent?: string | undefined;
  readonly name: string;
  readonly input: unknown;
  readonly reason: string;
  /** Set if the page runs the tool: the decision on the call is `{ result }`. */
  readonly needs?: 'result' | undefined;
}

/** An answer that waits for a decision. */
export interface SSEPendingAnswer {
  readonly type: 'answer';
  /** `answer`. Inside tool calls, behind the ids of `path` and `/`. */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Absent for the run itself. */
  readonly path?: readonly string[] | undefined;
  /** The agent of the answer. Absent for the run itself. */
  readonly agent?: string | undefined;
  readonly text: string;
  readonly reason: string;
}

/** The result of a run as a page may see it: without messages and without decisions of lifecycles. */
export interface SSEResult {
  readonly status: RunResult['status'];
  /** Empty for a suspended answer: `pending` has its text. */
  readonly text: string;
  /** Empty also for a page that must not decide. */
  readonly pending: readonly (SSEPendingCall | SSEPendingAnswer)[];
  readonly usage: Usage;
}

/**
 * An event of a run as `sseResponse` sends it. The types and members are those of the events of `agent.stream`, without
 * data that a page should not see: errors are texts, and hooks, lifecycles and messages are left out.
 */
export type SSEEvent = SSERunEvent & {
  /** For an event of a nested run: the ids of the enclosing tool calls, outermost first. */
  readonly path?: readonly string[] | undefined;
  /** The nested run. Only `run-start` has the id of the outermost run. */
  readonly runId?: string | undefined;
};

/** The members of an event by its type. */
export type SSERunEvent =
  | {
      readonly type: 'run-start';
      readonly runId: string;
      /** The agent of a nested run. */
      readonly agent?: string | undefined;
    }
  | { readonly type: 'turn-start' | 'turn-end'; readonly turn: number }
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly turn: number;
      readonly attempt: number;
      readonly text: string;
    }
  | {
      readonly type: 'tool-input-delta';
      readonly turn: number;
      readonly attempt: number;
      readonly callId: string;
      readonly name: string;
      readonly text: string;
    }
  | { readonly type: 'model-error'; readonly turn: number }
  | {
      readonly type: 'model-end';
      readonly turn: number;
      /** Replaces the streamed text of the turn. Absent for a response that a lifecycle withheld or suspended. */
      readonly text?: string | undefined;
    }
  | {
      readonly type: 'tool-start';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly input: unknown;
    }
  | {
      readonly type: 'tool-delta';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly data: unknown;
    }
  | {
      readonly type: 'tool-end';
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      /** Absent if the call was suspended or failed. */
      readonly output?: unknown;
      readonly errorText?: string | undefined;
    }
  | { readonly type: 'post'; readonly turn: number; readonly id: string; readonly text: string }
  | { readonly type: 'handoff'; readonly turn: number; readonly from: string; readonly to: string }
  | { readonly type: 'tool-denied'; readonly callId: string; readonly name: string }
  | { readonly type: 'run-error'; readonly errorText: string; readonly aborted: boolean }
  | { readonly type: 'run-end'; readonly result?: SSEResult | undefined };
