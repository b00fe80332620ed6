import type { RunStream } from '../../agent/run-stream.js';
import type { StoredSession } from '../../agent/session/stored-session.js';
import type { Awaitable } from '../../internal/promise.js';
import type { Entry } from '../../state/record/entry.js';
import type { Tool } from '../../tools/tool.js';
import { agUIResponse } from '../ag-ui/ag-ui-response.js';
import { fromAgUIInput } from '../ag-ui/from-ag-ui.js';
import { agUIMessagesOf } from '../ag-ui/to-ag-ui-messages.js';
import { checkAnswers } from '../ai-sdk/check-answers.js';
import { fromUIMessages } from '../ai-sdk/from-ui-messages.js';
import { uiMessagesOf } from '../ai-sdk/to-ui-messages.js';
import { DONE, uiMessageResponse } from '../ai-sdk/ui-message-stream.js';
import type { Shown } from '../history/shown.js';
import type { NestedPage } from '../nested/nested-runs.js';
import type { PageInput, UIRequest } from '../request.js';
import { eventStreamResponse } from '../sse/encode.js';
import { fromSSEBody } from '../sse/from-sse-body.js';
import { sseResponse } from '../sse/sse-response.js';
import type { StreamTexts } from '../stream-texts.js';
import { type Catching, followed } from './followed.js';

/**
 * The protocol of requests and responses: `'ai-sdk'` for version 7 of the package `ai`, `'ai-sdk-6'` for version 6,
 * `'ag-ui'`, or `'sse'` for plain server-sent events.
 */
export type ProtocolName = 'ai-sdk' | 'ai-sdk-6' | 'ag-ui' | 'sse';

/** The data, besides the events of the run, that a response depends on. */
export interface Answer extends StreamTexts, Catching {
  readonly chatId: string;
  /** The id of the message on the page that the run continues. Undefined for a new message. */
  readonly messageId: string | undefined;
  readonly runId?: string | undefined;
  readonly decides: boolean;
  /** The id of the last event that the page has received, if its protocol has ids. */
  readonly after?: string | undefined;
  /** Returns the entries of the session that are loaded. */
  readonly entries: () => readonly Entry[];
}

/** A request body that a protocol has parsed. */
export type ReadRequest = UIRequest & {
  readonly runId?: string | undefined;
  readonly page?: PageInput | undefined;
  readonly tools?: readonly Tool[] | undefined;
};

/** Parses requests and builds responses of one protocol. */
export interface Protocol {
  read(body: unknown): ReadRequest;
  /** Throws a UIRequestError if the body contradicts the stored conversation. */
  check(body: unknown, session: StoredSession): Awaitable<void>;
  respond(stream: RunStream<unknown>, answer: Answer): Response;
  /** Returns the response for a message that is stored but not answered yet, because tool calls wait for a decision. */
  waiting(): Response;
  /** Returns the response for a page that wants to follow a run while no run is active. */
  idle(): Response;
  messages(shown: readonly Shown[], page: NestedPage): readonly unknown[];
}

function aiSdk(version: 6 | 7): Protocol {
  return {
    read: fromUIMessages,
    check: (body, { record }) => checkAnswers(body, record),
    // When a page resumes a stream, it clears the message and builds it again.
    respond: (stream, { messageId, decides, errorText, toolErrorText, steps }) =>
      uiMessageResponse(steps ? followed(stream, { steps }) : stream, {
        messageId,
        decides,
        version,
        errorText,
        toolErrorText,
      }),
    waiting: () => noEvents(DONE),
    idle: noContent,
    messages: (shown, page) => uiMessagesOf(shown, page, version),
  };
}

function noContent(): Response {
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } });
}

/** Returns an event stream without events, because clients fail if a response has no body. */
function noEvents(end: string): Response {
  return eventStreamResponse(new Blob([end]).stream(), undefined);
}

export const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  'ai-sdk': aiSdk(7),
  'ai-sdk-6': aiSdk(6),
  'ag-ui': {
    read: fromAgUIInput,
    // A snapshot replaces all messages of the client.
    check: (_body, session) => session.loadAll(),
    // Each turn is a separate message, so a run never continues a message.
    respond: (stream, { chatId: threadId, runId, decides, errorText, toolErrorText, entries, load }) =>
      agUIResponse(load ? followed(stream, { load }) : stream, {
        threadId,
        runId,
        decides,
        errorText,
        toolErrorText,
        entries,
      }),
    waiting: () => noEvents(''),
    idle: () => noEvents(''),
    messages: agUIMessagesOf,
  },
  sse: {
    read: fromSSEBody,
    check: () => {},
    respond: (stream, { decides, errorText, toolErrorText, after }) =>
      sseResponse(stream, { decides, errorText, toolErrorText, after }),
    waiting: () => noEvents(''),
    idle: noContent,
    messages: uiMessagesOf,
  },
};
