import type { UINestedRun, UINestedStep } from '../nested/nested-part.js';

/** Token counts of a run, with the names that AG-UI uses. */
interface AgUIUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/**
 * An AG-UI interrupt: a tool call or an answer that waits for a decision. The client answers it with a `resume` entry
 * whose payload is `{ approved }`.
 */
export interface AgUIInterrupt {
  /**
   * The id of the tool call, or `answer` for a waiting answer. In a nested run, the ids of the enclosing tool calls
   * come first, joined by `/`.
   */
  readonly id: string;
  readonly reason: 'tool_call' | 'answer';
  /**
   * The id of the waiting call. In a nested run, the id of the outermost enclosing tool call. Absent for an answer of
   * the outermost run.
   */
  readonly toolCallId?: string | undefined;
  readonly message?: string | undefined;
  /**
   * Data for the prompt that the client shows. For a waiting answer, `text` is its text. In a nested run, `path` has
   * the ids of the enclosing tool calls, outermost first, and `agent` is the name of the nested agent.
   *
   * For a tool call of a nested run, `name` and `input` are the name and the arguments of the call.
   */
  readonly metadata?:
    | {
        readonly text?: string | undefined;
        readonly path?: readonly string[] | undefined;
        readonly agent?: string | undefined;
        readonly name?: string | undefined;
        readonly input?: unknown;
      }
    | undefined;
}

/** The outcome of a run: it succeeded, was cancelled, or waits for decisions. */
export type AgUIOutcome =
  | { readonly type: 'success' | 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUIInterrupt[] };

/** A message of the AG-UI protocol. */
export type AgUIMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: string }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string | undefined;
      readonly toolCalls?: readonly AgUIToolCall[] | undefined;
    }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: string }
  | ({ readonly id: string; readonly role: 'activity' } & AgUIActivity);

/** The content of an AG-UI activity message: a summary of earlier messages, a nested run, or a turn of a nested run. */
type AgUIActivity =
  | { readonly activityType: 'summary'; readonly content: { readonly text: string } }
  | { readonly activityType: 'nested-run'; readonly content: UINestedRun }
  | { readonly activityType: 'nested-step'; readonly content: UINestedStep };

/** A tool call in an AG-UI message. `arguments` is a JSON string. */
export interface AgUIToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** An event of the AG-UI protocol, version 1. The names and members come from docs.ag-ui.com. */
export type AgUIEvent =
  | { readonly type: 'RUN_STARTED'; readonly threadId: string; readonly runId: string }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' | 'user' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_START' | 'REASONING_END'; readonly messageId: string }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'REASONING_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
    }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly AgUIMessage[] }
  | ({ readonly type: 'ACTIVITY_SNAPSHOT'; readonly messageId: string } & AgUIActivity)
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown }
  | { readonly type: 'RUN_ERROR'; readonly message: string; readonly code?: string | undefined }
  | {
      readonly type: 'RUN_FINISHED';
      readonly threadId: string;
      readonly runId: string;
      readonly outcome: AgUIOutcome;
      readonly usage?: readonly AgUIUsage[] | undefined;
    };
