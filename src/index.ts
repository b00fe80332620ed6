export { Agent } from './agent/agent.js';
export type { AgentEvent, AgentEventOf, AgentEvents } from './agent/agent-event.js';
export type { AgentOptions, RunOptions, SessionOptions } from './agent/agent-options.js';
export type { AsToolOptions } from './agent/as-tool.js';
export type { AgentStatus } from './agent/engine.js';
export { handoff } from './agent/handoff/handoff.js';
export { formatRun } from './agent/run/format-run.js';
export type { OutputSchema } from './agent/run/output/output.js';
export type { ResumeDecision, ResumeDecisions } from './agent/run/resume/continuation.js';
export type { Timeouts } from './agent/run/run-config.js';
export {
  type CompletedRun,
  OutputInvalidError,
  type PendingAnswer,
  type PendingCall,
  type RunResult,
  RunTimeoutError,
  type SuspendedRun,
  TurnLimitError,
} from './agent/run-result.js';
export type { PartialOutput, RunStream } from './agent/run-stream.js';
export type { SentMessage } from './agent/session/sent-message.js';
export type { Session, SessionRun, SessionStream } from './agent/session/session.js';
export { SessionBusyError, SessionLostError, SessionStoreError } from './agent/session/session-error.js';
export {
  KeelsonError,
  LifecycleInvalidError,
  OptionInvalidError,
  ResumeInvalidError,
  SessionExistsError,
  TimeoutExceededError,
} from './errors.js';
export type { Clock } from './internal/clock.js';
export type { Ids } from './internal/ids.js';
export type { JsonSchema, JsonValue } from './internal/json.js';
export type { Logger } from './internal/logger.js';
export type { Awaitable } from './internal/promise.js';
export type { Decision } from './lifecycle/decision.js';
export {
  type ApproveAction,
  type ContinueAction,
  type EntryAction,
  HookAction,
  type ModifyAction,
  type SuspendAction,
} from './lifecycle/hook-action.js';
export type {
  AgentLifecycle,
  LifecycleHost,
  LifecycleLoader,
  LoaderHost,
  ModelCallNext,
  ModelCallRequest,
  ToolCallNext,
  ToolCallRequest,
} from './lifecycle/lifecycle.js';
export { defineLifecycle } from './lifecycle/registered-lifecycle.js';
export type { RunContext } from './lifecycle/run-context.js';
export { LifecycleError, RejectedError, RunAbortedError } from './lifecycle/run-failure.js';
export type {
  AssistantMessage,
  AssistantPart,
  ContentPart,
  FilePart,
  ImagePart,
  Message,
  MessageInput,
  ReasoningPart,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from './model/message.js';
export { textOf, toolCallsOf } from './model/message.js';
export type {
  Model,
  ModelPart,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  ToolChoice,
  ToolSpec,
  Usage,
} from './model/model.js';
export { ModelError, ResponseInvalidError, RunError } from './model/run-error.js';
export { MemorySessionStore } from './state/memory-session-store.js';
export { messagesOf, modelMessagesOf } from './state/record/derive.js';
export type { Entry } from './state/record/entry.js';
export { defineTool } from './tools/define-tool.js';
export type { StandardSchema } from './tools/standard-schema.js';
export type {
  RejectAction,
  RespondAction,
  SessionInfo,
  Tool,
  ToolContext,
  ToolInput,
  ToolOutput,
  ToolResult,
  ToolRun,
  ToolSource,
} from './tools/tool.js';
export { toolResult } from './tools/tool-result.js';
export { createToolSet, type ToolSet } from './tools/tool-set.js';
