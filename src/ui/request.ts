import type { JsonValue } from '../internal/json.js';
import type { UserMessage } from '../model/message.js';
import type { GivenResult } from '../state/record/entry.js';

/**
 * The answer of a page to a waiting tool call. It approves the call, perhaps with changed arguments, denies it, or
 * has the result of a call that the page has run.
 */
export type UIDecision = 'approve' | 'deny' | { readonly deny: string } | { readonly approve: JsonValue } | GivenResult;

/**
 * The data of a request that the server uses: a message, decisions, or the wish for another answer. Everything else
 * comes from the session.
 */
export type UIRequest =
  | (UISentMessage & {
      readonly type: 'message';
      /** True if the message replaces the stored message with the same id, and everything after it. */
      readonly edited?: boolean | undefined;
    })
  | {
      readonly type: 'decisions';
      readonly chatId: string;
      /** The id of the message on the page that the answer continues, if the page sends it. */
      readonly id?: string | undefined;
      readonly decisions: Readonly<Record<string, UIDecision>>;
      /**
       * The results of tool calls on the page, by call id. The server uses only the results of pending calls with
       * `needs: 'result'`, because it has the other results itself.
       */
      readonly results?: Readonly<Record<string, GivenResult>> | undefined;
    }
  | (UISentMessage & {
      readonly type: 'regenerate';
      /** The id of the answer to regenerate, or of the user message whose answer to regenerate. Default: `message`. */
      readonly answer?: string | undefined;
    });

/** Input of an AG-UI page besides its messages. Untrusted: a page can send any data. */
export interface PageInput {
  readonly context?: readonly { readonly description: string; readonly value: string }[] | undefined;
  readonly state?: unknown;
  readonly forwardedProps?: unknown;
}

/** The last user message of a page. */
export interface UISentMessage {
  readonly chatId: string;
  readonly message: UserMessage;
  /** The id of the message on the page. */
  readonly id?: string | undefined;
  /** The id of the previous user message on the page. */
  readonly after?: string | undefined;
}
