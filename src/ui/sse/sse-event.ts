import type { RunResult } from '../../agent/run-result.js';
import type { Usage } from '../../model/model.js';

/** A tool call that waits for a decision or for its result. */
export interface SSEPendingCall {
  /** The id of the call. For a call of a nested run, the ids of `path` and the call's own id, joined by `/`. */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Absent for a call of the outermost run. */
  readonly path?: readonly string[] | undefined;
  /** The agent that made the call. Absent for a call of the outermost run. */
  readonly agent?: string | undefined;
  readonly name: string;
  readonly input: unknown;
  readonly reason: string;
  /** Set if the page runs the tool. Then the decision on the call is `{ result }`. */
  readonly needs?: 'result' | undefined;
}

/** An answer that waits for a decision. */
export interface SSEPendingAnswer {
  readonly type: 'answer';
  /** The string `answer`. In a nested run, the ids of `path` and `answer`, joined by `/`. */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Absent for the answer of the outermost run. */
  readonly path?: readonly string[] | undefined;
  /** The agent that gave the answer. Absent for the answer of the outermost run. */
  readonly agent?: string | undefined;
  readonly text: string;
  readonly reason: string;
}

/** The result of a run in the form that a page may see, without messages and decisions of lifecycles. */
export interface SSEResult {
  readonly status: RunResult['status'];
  /** The text of the answer. Empty for a suspended answer, whose text is in `pending`. */
  readonly text: string;
  /**
   * The tool calls or the answer that wait for a decision or a result. Empty if the person on the page may not approve
   * or deny them.
   */
  readonly pending: readonly (SSEPendingCall | SSEPendingAnswer)[];
  readonly usage: Usage;
}

/**
 * An event of a run in the form that `sseResponse` sends. It has the type and the members of the event of `agent.stream`.
 *
 * Omits data that a page should not see: errors become strings, and hooks, lifecycles and messages are left out.
 */
export type SSEEvent = SSERunEvent & {
  /** For an event of a nested run: the ids of the enclosing tool calls, outermost first. */
  readonly path?: readonly string[] | undefined;
  /** The id of a nested run. For the outermost run, only `run-start` has an id. */
  readonly runId?: string | undefined;
};

/** The members of an event, by its type. */
export type SSERunEvent =
  | {
      readonly type: 'run-start';
      readonly runId: string;
      /** The agent of a nested run. Absent for the outermost run. */
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
      /**
       * The final text, which replaces the streamed text of the turn. Absent if a lifecycle withheld or suspended the
       * response.
       */
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
      /** The output of the tool. Absent if the call was suspended or failed. */
      readonly output?: unknown;
      readonly errorText?: string | undefined;
    }
  | { readonly type: 'post'; readonly turn: number; readonly id: string; readonly text: string }
  | { readonly type: 'handoff'; readonly turn: number; readonly from: string; readonly to: string }
  | { readonly type: 'tool-denied'; readonly callId: string; readonly name: string }
  | { readonly type: 'run-error'; readonly errorText: string; readonly aborted: boolean }
  | { readonly type: 'run-end'; readonly result?: SSEResult | undefined };
