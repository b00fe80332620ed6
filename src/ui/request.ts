import type { UserMessage } from '../model/message.js';

/** The decision of a person on a tool call. */
export type UIDecision = 'approve' | 'deny' | { readonly deny: string };

/** The part of a request that the server uses. Everything else comes from the session. */
export type UIRequest =
  | {
      readonly type: 'message';
      readonly chatId: string;
      readonly message: UserMessage;
      /** The number of the user message (from 1) that the new message replaces. Absent if the message is added. */
      readonly replaces?: number | undefined;
      /** The text of the user message before, as the page shows it. Absent if the message is the first. */
      readonly previousText?: string | undefined;
    }
  | { readonly type: 'decisions'; readonly chatId: string; readonly decisions: Readonly<Record<string, UIDecision>> }
  | {
      readonly type: 'regenerate';
      readonly chatId: string;
      /** The number of the user message (from 1) to answer anew. */
      readonly userMessage: number;
      /** The user message as the page shows it. */
      readonly message: UserMessage;
    };
