import type { RunStream } from '../../agent/run-stream.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import type { Awaitable } from '../../internal/promise.js';
import type { Entry } from '../../state/record/entry.js';
import { agUIResponse } from '../ag-ui/ag-ui-response.js';
import { fromAgUIInput } from '../ag-ui/from-ag-ui.js';
import { agUIMessagesOf } from '../ag-ui/to-ag-ui-messages.js';
import { checkAnswers } from '../ai-sdk/check-answers.js';
import { fromUIMessages } from '../ai-sdk/from-ui-messages.js';
import { uiMessagesOf } from '../ai-sdk/to-ui-messages.js';
import { uiMessageResponse } from '../ai-sdk/ui-message-stream.js';
import type { Shown } from '../history/shown.js';
import type { UIRequest } from '../request.js';
import { fromSSEBody } from '../sse/from-sse-body.js';
import { sseResponse } from '../sse/sse-response.js';
import type { StreamTexts } from '../stream-texts.js';

/** The form of requests and responses: of the AI SDK 7 or 6, of AG-UI, or plain server-sent events. */
export type ProtocolName = 'ai-sdk' | 'ai-sdk-6' | 'ag-ui' | 'sse';

/** The answer to a request. */
interface Answer extends StreamTexts {
  readonly chatId: string;
  /** The id of the answer that the run continues. */
  readonly messageId: string | undefined;
  readonly runId?: string | undefined;
  readonly decides: boolean;
  /** The id of the last event that the page has, if its protocol has ids. */
  readonly after?: string | undefined;
  /** Returns the loaded entries of the session. */
  readonly entries: () => readonly Entry[];
}

/** Reads requests and writes responses of one protocol. */
export interface Protocol {
  read(body: unknown): UIRequest & { readonly runId?: string | undefined };
  /** Throws a UIRequestError if the body contradicts the record of the session. */
  check(body: unknown, session: StoredSession): Awaitable<void>;
  respond(stream: RunStream<unknown>, answer: Answer): Response;
  messages(shown: readonly Shown[], page: Pick<Answer, 'decides'>): readonly unknown[];
}

function aiSdk(version: 6 | 7): Protocol {
  return {
    read: fromUIMessages,
    check: (body, { record }) => checkAnswers(body, record),
    respond: (stream, { messageId, decides, errorText, toolErrorText }) =>
      uiMessageResponse(stream, { messageId, decides, version, errorText, toolErrorText }),
    messages: uiMessagesOf,
  };
}

export const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  'ai-sdk': aiSdk(7),
  'ai-sdk-6': aiSdk(6),
  'ag-ui': {
    read: fromAgUIInput,
    // A snapshot replaces all messages of the client.
    check: (_body, session) => session.loadAll(),
    // Each turn is a message of its own, so a run never continues a message.
    respond: (stream, { chatId: threadId, runId, decides, entries, errorText, toolErrorText }) =>
      agUIResponse(stream, { threadId, runId, decides, entries, errorText, toolErrorText }),
    messages: agUIMessagesOf,
  },
  sse: {
    read: fromSSEBody,
    check: () => {},
    respond: (stream, { decides, errorText, toolErrorText, after }) =>
      sseResponse(stream, { decides, errorText, toolErrorText, after }),
    messages: uiMessagesOf,
  },
};
