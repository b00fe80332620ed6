import type { UserMessage } from '../model/message.js';

/** The decision of a person on a tool call. */
export type UIDecision = 'approve' | 'deny' | { readonly deny: string };

/** The part of a request that the server uses. Everything else comes from the session. */
export type UIRequest =
  | {
      readonly type: 'message';
      readonly chatId: string;
      readonly message: UserMessage;
      /**
       * Present if the message replaces an earlier message and everything after it: the texts of the user messages
       * before it, as the page shows them.
       */
      readonly editedAfter?: readonly string[] | undefined;
    }
  | { readonly type: 'decisions'; readonly chatId: string; readonly decisions: Readonly<Record<string, UIDecision>> }
  | {
      readonly type: 'regenerate';
      readonly chatId: string;
      /** The user message to answer anew, as the page shows it. */
      readonly message: UserMessage;
      /** The texts of the user messages before it. */
      readonly after: readonly string[];
    };
