import type { UIEditMetadata, UIMessageMetadata, UIMessagePart, UINestedPart } from './ui-chunk.js';

/** A message in the format of the AI SDK's front ends. It is plain JSON. */
export interface UIMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UIPart[];
  readonly metadata?: UIMessageMetadata | undefined;
}

/** A part of a UI message. The type of a tool part is `tool-` and the name of the tool. */
export type UIPart =
  | { readonly type: 'text'; readonly text: string; readonly state?: 'done' }
  | { readonly type: 'reasoning'; readonly text: string; readonly state?: 'done' }
  | { readonly type: 'file'; readonly url: string; readonly mediaType: string; readonly filename?: string | undefined }
  | { readonly type: 'step-start' }
  | { readonly type: 'source-url'; readonly sourceId: string; readonly url: string; readonly title?: string }
  | { readonly type: 'steering-message'; readonly id: string; readonly parts: readonly UIMessagePart[] }
  | {
      readonly type: 'data-steering-message';
      readonly id: string;
      readonly data: { readonly parts: readonly UIMessagePart[] };
    }
  | { readonly type: 'data-summary'; readonly data: { readonly text: string } }
  | UINestedPart
  | UIToolPart;

/** A tool call with its result, if it has one. */
export interface UIToolPart {
  readonly type: `tool-${string}`;
  readonly toolCallId: string;
  readonly state: 'approval-requested' | 'input-available' | 'output-available' | 'output-error' | 'output-denied';
  readonly input: unknown;
  readonly output?: unknown;
  readonly errorText?: string | undefined;
  readonly providerExecuted?: boolean | undefined;
  /** Set if a person changed the arguments of the call. */
  readonly callProviderMetadata?: UIEditMetadata | undefined;
  /** The request for approval. Set while the call waits for approval, and after it was denied. */
  readonly approval?:
    | { readonly id: string; readonly approved?: false | undefined; readonly reason?: string | undefined }
    | undefined;
}
