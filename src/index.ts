export { Agent } from './agent/agent.js';
export type { AgentEvent, AgentEventOf, AgentEvents, EarlierTurn } from './agent/agent-event.js';
export type {
  AgentOptions,
  RunArguments,
  RunOptions,
  SessionOptions,
  SessionRunOptions,
} from './agent/agent-options.js';
export type { AsToolOptions, PromptSchema } from './agent/as-tool.js';
export type { AgentStatus, LifecycleStatus, ToolStatus } from './agent/engine.js';
export { type HandoffOptions, handoff } from './agent/handoff/handoff.js';
export { HandoffUnavailableError } from './agent/handoff/handoff-error.js';
export { formatRun } from './agent/run/format-run.js';
export type { OutputOf, OutputSchema } from './agent/run/output/output.js';
export type { ResumeDecision, ResumeDecisions } from './agent/run/resume/continuation.js';
export type { AgentSettings, Timeouts, TurnLimit } from './agent/run/run-config.js';
export type { LoaderStatus } from './agent/run-loader.js';
export {
  type CompletedRun,
  type InvalidOutput,
  type NestedRun,
  OutputInvalidError,
  type PendingAnswer,
  type PendingCall,
  type RunRecord,
  type RunResult,
  RunTimeoutError,
  type SuspendedRun,
  TurnLimitError,
} from './agent/run-result.js';
export type { PartialOutput, RunStream } from './agent/run-stream.js';
export type { BackgroundStatus } from './agent/session/background/works.js';
export type { SessionFork } from './agent/session/fork.js';
export type { AttachOptions } from './agent/session/log/follow-run.js';
export type { SendOptions, SentMessage } from './agent/session/sent-message.js';
export type { HistoryQuery, Session, SessionRun, SessionStream } from './agent/session/session.js';
export {
  EntryInvalidError,
  SessionBusyError,
  SessionLostError,
  SessionStoreError,
} from './agent/session/session-error.js';
export type { BreakOptions, StopOptions } from './agent/session/stop/stop-session.js';
export {
  AgentClosedError,
  BackgroundUnavailableError,
  HookResultInvalidError,
  KeelsonError,
  type KeelsonErrorOptions,
  LifecycleInvalidError,
  LoaderError,
  MessageInvalidError,
  NextExpiredError,
  OptionInvalidError,
  ResumeInvalidError,
  RunEndedError,
  SessionClosedError,
  SessionExistsError,
  SessionReentryError,
  TimeoutExceededError,
  ToolConflictError,
  ToolInvalidError,
} from './errors.js';
export type { Clock } from './internal/clock.js';
export type { Ids } from './internal/ids.js';
export type { JsonSchema, JsonValue } from './internal/json.js';
export type { Logger } from './internal/logger.js';
export type { Awaitable } from './internal/promise.js';
export { CallSuspendedError } from './lifecycle/compose-points.js';
export type { Decision, HookPoint } from './lifecycle/decision.js';
export {
  type ApproveAction,
  type ContinueAction,
  type EntryAction,
  HookAction,
  type ModifyAction,
  type SuspendAction,
} from './lifecycle/hook-action.js';
export type { CacheDifference } from './lifecycle/hook-run/run-reports.js';
export type {
  AgentLifecycle,
  LifecycleHost,
  LifecycleLoader,
  LoaderHost,
  ModelCall,
  ModelCallRequest,
  StreamGate,
  ToolCallRequest,
  ToolInvoke,
} from './lifecycle/lifecycle.js';
export { defineLifecycle } from './lifecycle/registered-lifecycle.js';
export type { RunContext, Summary } from './lifecycle/run-context.js';
export { LifecycleError, RejectedError, RunAbortedError } from './lifecycle/run-failure.js';
export type {
  AssistantMessage,
  AssistantPart,
  ContentPart,
  FilePart,
  ImagePart,
  Message,
  MessageInput,
  ProviderMetadata,
  ReasoningPart,
  SuspendedCall,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
  WaitingRun,
} from './model/message.js';
export { textOf, toolCallsOf } from './model/message.js';
export type {
  Annotations,
  FinishReason,
  Model,
  ModelPart,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  ToolChoice,
  ToolSpec,
  Usage,
} from './model/model.js';
export {
  ModelError,
  type ModelErrorKind,
  type ModelFailureHints,
  ResponseInvalidError,
  RunError,
  type RunErrorState,
} from './model/run-error.js';
export { MemorySessionStore, type MemorySessionStoreOptions } from './state/memory-session-store.js';
export { messagesOf, modelMessagesOf } from './state/record/derive.js';
export type {
  BackgroundBody,
  DecisionBody,
  DroppedBody,
  Entry,
  EntryBody,
  EntryDecision,
  GivenResult,
  HeadBody,
  MessageBody,
  Post,
  PostBody,
  PostWhen,
  SummaryBody,
  SuspendedBody,
} from './state/record/entry.js';
export type { PostState } from './state/record/posts.js';
export type { RunLogLimits } from './state/run-log/limits.js';
export {
  type LoggedEvent,
  type RunLog,
  type RunLogAnswer,
  RunLogGoneError,
  type RunLogPage,
  type RunLogQuery,
  type RunOutcome,
} from './state/run-log/run-log.js';
export type {
  AppendAnswer,
  ClaimAnswer,
  KnownRecord,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionHolder,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from './state/session-store.js';
export { type ArgumentsSchema, defineTool, type ToolDefinition, type ToolInput } from './tools/define-tool.js';
export type { InferOutput, StandardIssue, StandardResult, StandardSchema } from './tools/standard-schema.js';
export type {
  BackgroundOptions,
  BackgroundWork,
  JsonData,
  LiveToolSet,
  PlainObject,
  RejectAction,
  RespondAction,
  RunTool,
  RunToolSource,
  SessionInfo,
  Tool,
  ToolAnnotations,
  ToolContext,
  ToolOutput,
  ToolResult,
  ToolRun,
  ToolSource,
} from './tools/tool.js';
export { toolResult } from './tools/tool-result.js';
export { createToolSet, type ToolSet } from './tools/tool-set.js';
