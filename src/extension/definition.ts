import type { JsonValue } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';
import type { ExtensionContext, TagContext } from './context.js';
import type { ShortCircuit } from './short-circuit.js';

/**
 * A callback extension: callbacks, prompt additions and tool guidance under one id. Only the id is required.
 *
 * Callbacks of one type run by `priority`, higher first, then in the order of registration. Each callback receives the
 * value that the callback before it returned. Prompt additions are sorted by extension id and ignore the priority.
 *
 * A callback receives copies, so only its return value has an effect. A callback that returns undefined changes
 * nothing. If a callback throws, times out or returns a value of the wrong type, the failure is logged, and the run
 * continues with the value that the callback received. An extension that keeps failing is set aside for a while.
 */
export interface Extension {
  /** 1–64 letters, digits and hyphens. Must be unique in its registry. */
  readonly id: string;
  /** A whole number from 0 to 100, default 50. Higher runs first. */
  readonly priority?: number | undefined;
  /**
   * `session` (default): acts only in the session that `register` was called with, or in every session if `register`
   * was called without one. `global`: acts in every session. State is kept per session in both scopes.
   */
  readonly scope?: ExtensionScope | undefined;
  /**
   * Called once per run, before the first model call. A returned array replaces the messages that the model reads in
   * this run; a session still stores the original ones. The messages are deeply frozen: return new ones to change them.
   */
  readonly onInputMessages?: ((messages: readonly Message[], context: ExtensionContext) => InputResult) | undefined;
  /** Called for each piece of text between the sections that any `onTag` handles. Returns the replacement. */
  readonly onPlainText?: ((text: string, context: ExtensionContext) => TextResult) | undefined;
  /** Called for each section whose tag matches `tags`, innermost first. An array lists handlers with their own tags. */
  readonly onTag?: TagCallback | readonly TagHandler[] | undefined;
  /** The tags for an `onTag` that is a function: names, or prefixes such as `x-*`. */
  readonly tags?: string | readonly string[] | undefined;
  /**
   * If true, tags that open in code spans and code blocks are handled too. Default: false. A closing tag always closes
   * its section, even in code.
   */
  readonly inCode?: boolean | undefined;
  /** Called once per model response with its whole text, before `onTag` and `onPlainText`. */
  readonly onLlmOutput?: ((output: string, context: ExtensionContext) => OutputResult) | undefined;
  /**
   * Set it to false if the extension never uses state. Then its runs do not extend the lifetime of a session's state,
   * and its callbacks are not steps of a durable run.
   *
   * If it is true, each run waits until the lifetime is extended. Default: a run extends the lifetime if the extension
   * has a callback. Runs extend the lifetime only if `ttlMs` is at least `sessionTtlMs`.
   */
  readonly usesState?: boolean | undefined;
  /** Strings that are added to each model request. They are never stored in the conversation. */
  readonly promptAdditions?: readonly PromptAddition[] | undefined;
  /** Guidance for the model on the choice of tools. No tool is hidden or refused. */
  readonly toolConfig?: ToolConfig | undefined;
}

/** The sessions in which an extension acts. */
type ExtensionScope = 'session' | 'global';

/** The result of `onInputMessages`: the new messages, a short circuit that ends the run, or nothing for no change. */
export type InputResult = Awaitable<readonly Message[] | ShortCircuit | undefined | void>;

/** The result of `onPlainText` and `onTag`: the replacement, or nothing for no change. */
export type TextResult = Awaitable<string | ShortCircuit | undefined | void>;

/** The result of `onLlmOutput`: the new text, an {@link AnnotatedOutput}, a short circuit, or nothing for no change. */
export type OutputResult = Awaitable<string | AnnotatedOutput | ShortCircuit | undefined | void>;

/** A response text with metadata, which `annotations` of the response and of the result have under the id. */
export interface AnnotatedOutput {
  /** The new text. Default: the text is unchanged. */
  readonly output?: string | undefined;
  readonly metadata: JsonValue;
}

/**
 * Handles one section. `content` is the text between its tags, in which the inner sections are already replaced. A
 * returned string replaces the whole section with its tags.
 */
export type TagCallback = (tag: string, content: string, context: TagContext) => TextResult;

/** A callback with the tags that it handles. */
export interface TagHandler {
  /** Case-sensitive tag names, or prefixes such as `x-*`. */
  readonly tags: string | readonly string[];
  readonly handle: TagCallback;
  /** If true, tags that open in code are handled too. Default: the extension's `inCode`. */
  readonly inCode?: boolean | undefined;
}

/** The position of an addition: before or after the system message, or before or after the last user message. */
export type AdditionPosition = 'system_prefix' | 'system_suffix' | 'user_prefix' | 'user_suffix';

/** A string that is added to each model request, or only if its condition is met. */
export interface PromptAddition {
  readonly position: AdditionPosition;
  readonly content: string;
  /** Default: always met. A condition that throws is logged and not met. */
  readonly condition?: AdditionCondition | undefined;
}

/** The condition of an addition: one of three objects, or a function. */
export type AdditionCondition =
  /**
   * Met if a user or assistant message contains a complete tag with this name or prefix (`x-*`). Also met once an
   * `onTag` of this run has handled such a tag.
   */
  | { readonly type: 'tag_present'; readonly tag: string }
  /** Met if the state has the value `equals` under this key. Without `equals`, any value meets the condition. */
  | { readonly type: 'state_value'; readonly key: string; readonly equals?: JsonValue | undefined }
  /** Met if `context` has the value `equals` at a path such as `user.plan`. Without `equals`: any value but null. */
  | { readonly type: 'context_match'; readonly path: string; readonly equals?: JsonValue | undefined }
  | ((context: ExtensionContext) => Awaitable<boolean>);

/**
 * Guidance on tools by name. `register` throws if a name is unknown: it must be the name of a tool of the registry's
 * agents, or be listed in the registry's option `tools`. `register` also accepts the keys in snake_case.
 */
export interface ToolConfig {
  /** Tools that the model is offered first. The system message names them as preferred. */
  readonly preferredTools?: readonly string[] | undefined;
  /** Tools that the model is offered last. The system message says to avoid them, but the model can still call them. */
  readonly avoidedTools?: readonly string[] | undefined;
  /** The order of tools that the system message suggests for a task that needs several of them. */
  readonly toolOrder?: readonly string[] | undefined;
  /** If true, the names are checked at the first model call and not by `register`. Unknown names are then logged. */
  readonly lazy?: boolean | undefined;
}

/** {@link ToolConfig} with snake_case keys, as configuration files have them. */
export interface ToolConfigLiteral {
  readonly preferred_tools?: readonly string[] | undefined;
  readonly avoided_tools?: readonly string[] | undefined;
  readonly tool_order?: readonly string[] | undefined;
  readonly lazy?: boolean | undefined;
}

/** Members of an {@link Extension} with snake_case keys, as configuration files have them. */
export interface ExtensionLiteral {
  /** {@link Extension.id}. */
  readonly extension_id?: string | undefined;
  /** {@link Extension.onInputMessages}. */
  readonly on_input_messages?: Extension['onInputMessages'];
  /** {@link Extension.onPlainText}. */
  readonly on_plain_text?: Extension['onPlainText'];
  /** {@link Extension.onTag}. */
  readonly on_tag?: Extension['onTag'];
  /** {@link Extension.inCode}. */
  readonly in_code?: Extension['inCode'];
  /** {@link Extension.usesState}. */
  readonly uses_state?: Extension['usesState'];
  /** {@link Extension.onLlmOutput}. */
  readonly on_llm_output?: Extension['onLlmOutput'];
  /** {@link Extension.promptAdditions}. */
  readonly prompt_additions?: Extension['promptAdditions'];
  /** {@link Extension.toolConfig}. */
  readonly tool_config?: ToolConfig | ToolConfigLiteral | undefined;
}

/**
 * The argument of `register`: an {@link Extension} with keys in camelCase or snake_case. The same key in both is an
 * error.
 */
export interface ExtensionInput extends Omit<Extension, 'id' | 'toolConfig'>, ExtensionLiteral {
  /** {@link Extension.id}. Required, here or under one of its other names. */
  readonly id?: string | undefined;
  /** {@link Extension.id}, under the name that callbacks see. */
  readonly extensionId?: string | undefined;
  readonly toolConfig?: ToolConfig | ToolConfigLiteral | undefined;
}

/** A copy of a registered extension, with its defaults. */
export interface RegisteredExtension extends Extension {
  readonly priority: number;
  readonly scope: ExtensionScope;
  readonly promptAdditions: readonly PromptAddition[];
  /** The `session` option of `register`. */
  readonly session?: string | undefined;
}

/**
 * Returns the extension unchanged, with its type checked. A misspelt callback is a compile error.
 *
 * @example
 * const shout = defineExtension({ id: 'shout', onPlainText: (text) => text.toUpperCase() });
 * new ExtensionRegistry().register(shout);
 */
export function defineExtension<const Definition extends ExtensionInput>(
  extension: Definition & {
    readonly [Key in Exclude<keyof Definition, keyof ExtensionInput> & `on${Capitalize<string>}`]: never;
  },
): Definition {
  return extension;
}
