/**
 * Chats on web pages: streams for the AI SDK, AG-UI and plain server-sent events, and an HTTP handler.
 *
 * @packageDocumentation
 */
export { WatchedRunError } from '../agent/session/session-error.js';
export { MemoryRunLog, type MemoryRunLogOptions } from '../state/run-log/memory-run-log.js';
export type { AgUIEvent, AgUIMessage } from './ag-ui/ag-ui-event.js';
export {
  type AgUIResponseOptions,
  type AgUIStreamOptions,
  agUIResponse,
  toAgUIStream,
} from './ag-ui/ag-ui-response.js';
export { type AgUIRequest, fromAgUIInput } from './ag-ui/from-ag-ui.js';
export { toAgUIMessages } from './ag-ui/to-ag-ui-messages.js';
export { fromUIMessages } from './ai-sdk/from-ui-messages.js';
export { type ToUIMessagesOptions, toUIMessages } from './ai-sdk/to-ui-messages.js';
export type { UIMessageChunk, UIMessageMetadata, UIMessagePart } from './ai-sdk/ui-chunk.js';
export type { UIMessage, UIPart, UIToolPart } from './ai-sdk/ui-message.js';
export {
  pipeUIMessages,
  toUIMessageStream,
  type UIMessageResponseOptions,
  type UIMessageStreamOptions,
  uiMessageResponse,
} from './ai-sdk/ui-message-stream.js';
export { UIBodyInvalidError, UIRequestError, UISessionBusyError } from './error.js';
export { type AgentHandler, createAgentHandler } from './handler/create-agent-handler.js';
export type {
  AgentHandlerOptions,
  Authorize,
  ChatSession,
  HandlerOptions,
  WaitingPost,
} from './handler/handler-options.js';
export type { ProtocolName } from './handler/protocol.js';
export type { UINestedRun, UINestedStep } from './nested/nested-part.js';
export type { PageInput, UIDecision, UIRequest } from './request.js';
export { type NodeListener, toNodeListener } from './sse/node-listener.js';
export type { ServerRequestLike } from './sse/node-request.js';
export { pipeResponse, type ServerResponseLike } from './sse/pipe.js';
export type { SSEEvent, SSEResult, SSERunEvent } from './sse/sse-event.js';
export { type SSEResponseOptions, sseResponse } from './sse/sse-response.js';
