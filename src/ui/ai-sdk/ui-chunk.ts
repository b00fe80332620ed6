import type { FinishReason, Usage } from '../../model/model.js';
import type { NestedPart, UINestedRun, UINestedStep } from '../nested/nested-part.js';
import { shownData } from '../shown-content.js';
import type { Joining } from '../sse/event-queue.js';

/** The metadata of a UI message, which a page finds in `message.metadata`. */
export interface UIMessageMetadata {
  /** Token counts of the latest run of the message. Sent with the last chunk. */
  readonly usage?: Usage | undefined;
  /**
   * The ids of the tool calls that wait for a decision or a result, or `answer` for a suspended answer. Absent or empty
   * if nothing waits.
   */
  readonly pending?: readonly string[] | undefined;
  /**
   * True if a person or a shutdown of the server stopped the answer before its end. In a loaded history, only if the
   * model was writing text.
   */
  readonly stopped?: true | undefined;
}

/** Marks a tool call whose arguments a person changed. `modelInput` has the arguments from the model. */
export interface UIEditMetadata {
  readonly keelson: { readonly modelInput: unknown };
}

/** Returns the metadata of a tool call whose arguments a person changed. */
export function editMetadata(modelInput: unknown): UIEditMetadata {
  return { keelson: { modelInput: shownData(modelInput) } };
}

/** A part of a user message. */
export type UIMessagePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string; readonly filename?: string | undefined };

/** A part that shows a nested run, or one of its turns. A later part with the same id replaces it. */
export type UINestedPart =
  | { readonly type: 'data-nested-run'; readonly id: string; readonly data: UINestedRun }
  | { readonly type: 'data-nested-step'; readonly id: string; readonly data: UINestedStep };

/** Converts a part of a nested run to a part of a UI message. */
export function nestedPart({ type, id, data }: NestedPart): UINestedPart {
  return { type: `data-${type}`, id, data } as UINestedPart;
}

/**
 * A chunk of the AI SDK's UI message stream, protocol version 1. Each chunk is one server-sent event. The names and
 * members come from the protocol at ai-sdk.dev.
 */
export type UIMessageChunk =
  | { readonly type: 'start'; readonly messageId?: string; readonly messageMetadata?: UIMessageMetadata }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-start'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly providerExecuted?: true;
      readonly providerMetadata?: UIEditMetadata;
    }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly reason?: string;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly preliminary?: true;
      readonly providerExecuted?: true;
    }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'steering-message'; readonly id: string; readonly parts: readonly UIMessagePart[] }
  | {
      readonly type: 'data-steering-message';
      readonly id: string;
      readonly data: { readonly parts: readonly UIMessagePart[] };
    }
  | UINestedPart
  | {
      readonly type: 'data-handoff';
      readonly data: { readonly from: string; readonly to: string };
      readonly transient: true;
    }
  | { readonly type: 'source-url'; readonly sourceId: string; readonly url: string; readonly title?: string }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'message-metadata'; readonly messageMetadata: UIMessageMetadata }
  | { readonly type: 'abort'; readonly reason?: string }
  | { readonly type: 'finish'; readonly finishReason: FinishReason; readonly messageMetadata?: UIMessageMetadata };

/**
 * Joins chunks that wait for a slow client. Deltas of one part or tool call become one. Of the progress of a tool call,
 * and of the state of a nested run, only the latest is kept.
 */
export const joining: Joining<UIMessageChunk> = {
  keyOf(chunk) {
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') return chunk.id;
    if (chunk.type === 'data-nested-run' || chunk.type === 'data-nested-step') return chunk.id;
    if (chunk.type === 'tool-input-delta') return chunk.toolCallId;
    return chunk.type === 'tool-output-available' && chunk.preliminary ? chunk.toolCallId : undefined;
  },
  join(waiting, next) {
    if ('delta' in next) return { ...next, delta: (waiting as typeof next).delta + next.delta };
    if (next.type !== 'tool-input-delta') return next;
    return { ...next, inputTextDelta: (waiting as typeof next).inputTextDelta + next.inputTextDelta };
  },
};
