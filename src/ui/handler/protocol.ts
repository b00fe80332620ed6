import type { RunStream } from '../../agent/run-stream.js';
import type { Message } from '../../model/message.js';
import { agUIResponse } from '../ag-ui/ag-ui-response.js';
import { fromAgUIInput } from '../ag-ui/from-ag-ui.js';
import { toAgUIMessages } from '../ag-ui/to-ag-ui-messages.js';
import { checkToolResults } from '../ai-sdk/check-tool-results.js';
import { fromUIMessages } from '../ai-sdk/from-ui-messages.js';
import { toUIMessages } from '../ai-sdk/to-ui-messages.js';
import { uiMessageResponse } from '../ai-sdk/ui-message-stream.js';
import type { UIRequest } from '../request.js';
import { fromSSEBody } from '../sse/from-sse-body.js';
import { sseResponse } from '../sse/sse-response.js';
import type { StreamTexts } from '../stream-texts.js';

/** The form of requests and responses: of the AI SDK 7 or 6, of AG-UI, or plain server-sent events. */
export type ProtocolName = 'ai-sdk' | 'ai-sdk-6' | 'ag-ui' | 'sse';

/** The answer to a request. */
interface Answer extends StreamTexts {
  readonly chatId: string;
  readonly messageId: string;
  readonly runId?: string | undefined;
  readonly decides: boolean;
}

/** Reads requests and writes responses of one protocol. */
export interface Protocol {
  read(body: unknown): UIRequest & { readonly runId?: string | undefined };
  /** Throws a UIRequestError if the body contradicts the stored messages. */
  check(body: unknown, history: readonly Message[]): void;
  respond(stream: RunStream<unknown>, answer: Answer): Response;
  messages(history: readonly Message[], chat: Pick<Answer, 'chatId' | 'decides'>): readonly unknown[];
}

function aiSdk(version: 6 | 7): Protocol {
  return {
    read: fromUIMessages,
    check: checkToolResults,
    respond: (stream, { messageId, decides, errorText, toolErrorText }) =>
      uiMessageResponse(stream, { messageId, decides, version, errorText, toolErrorText }),
    messages: toUIMessages,
  };
}

export const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  'ai-sdk': aiSdk(7),
  'ai-sdk-6': aiSdk(6),
  'ag-ui': {
    read: fromAgUIInput,
    check: () => {},
    respond: (stream, { chatId: threadId, ...answer }) => agUIResponse(stream, { threadId, ...answer }),
    messages: (history, { chatId }) => toAgUIMessages(history, { chatId }),
  },
  sse: {
    read: fromSSEBody,
    check: () => {},
    respond: (stream, { decides, errorText, toolErrorText }) =>
      sseResponse(stream, { decides, errorText, toolErrorText }),
    messages: toUIMessages,
  },
};
