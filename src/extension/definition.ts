import type { JsonValue } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';
import type { ExtensionContext, TagContext } from './context.js';
import type { ShortCircuit } from './short-circuit.js';

/**
 * A callback extension: callbacks, prompt additions and tool guidance under one id. Every member but the id is optional.
 *
 * Order: callbacks of one type run by `priority`, higher first, then in the order of registration; each is given what the
 * one before it returned. Prompt additions stand in ascending order of the extensions' ids, whatever the priority.
 *
 * A callback is given copies: what it returns counts, what it changes in place does not. One that returns nothing changes
 * nothing. One that throws, times out or returns something of the wrong kind is logged and passed over: the run goes on
 * with the value from before it.
 */
export interface Extension {
  /** Letters, digits and hyphens, 1–64 of them; unique in its registry. */
  readonly id: string;
  /** A whole number from 0 to 100, default 50. Higher runs first. */
  readonly priority?: number | undefined;
  /**
   * `session` (default): acts in the session that it is registered for, or, registered for none, in every session by
   * itself. `global`: acts everywhere, whatever it is registered for. State is kept by session in both.
   */
  readonly scope?: ExtensionScope | undefined;
  /** Once a run, before its first model call, with the whole conversation. The list it returns replaces it lastingly. */
  readonly onInputMessages?: ((messages: Message[], context: ExtensionContext) => InputResult) | undefined;
  /** For each piece of an answer's text that stands outside of registered tags. Returns the text for it. */
  readonly onPlainText?: ((text: string, context: ExtensionContext) => TextResult) | undefined;
  /** For each section of an answer whose tag matches `tags`, innermost first; or a list of handlers with tags each. */
  readonly onTag?: TagCallback | readonly TagHandler[] | undefined;
  /** The tags of an `onTag` that is a function: names, or beginnings of names such as `x-*`. */
  readonly tags?: string | readonly string[] | undefined;
  /** Once for each model response, with its whole text, before tags and plain text. */
  readonly onLlmOutput?: ((output: string, context: ExtensionContext) => OutputResult) | undefined;
  /** What the extension adds to each request. Never stored in the conversation. */
  readonly promptAdditions?: readonly PromptAddition[] | undefined;
  /** What the model is told about the choice of tools. Guidance only: no tool is hidden or refused. */
  readonly toolConfig?: ToolConfig | undefined;
}

/** Where an extension acts. */
export type ExtensionScope = 'session' | 'global';

/** What `onInputMessages` may return: the new list, or a text that ends the run without a model call. */
export type InputResult = Awaitable<readonly Message[] | ShortCircuit | undefined | void>;

/** What `onPlainText` and `onTag` may return: the text that takes the place; nothing leaves it as it is. */
export type TextResult = Awaitable<string | ShortCircuit | undefined | void>;

/** What `onLlmOutput` may return: the new text, an {@link AnnotatedOutput}, or a text that ends the run. */
export type OutputResult = Awaitable<string | AnnotatedOutput | ShortCircuit | undefined | void>;

/** An output with notes on it, which stand under the extension's id in `annotations` of the response and the result. */
export interface AnnotatedOutput {
  /** Absent: the output stays as it is. */
  readonly output?: string | undefined;
  readonly metadata: JsonValue;
}

/** Is given a section's tag and its content, in which inner sections are done. What it returns replaces the section, markup included. */
export type TagCallback = (tag: string, content: string, context: TagContext) => TextResult;

/** A callback for some tags. */
export interface TagHandler {
  /** Names, or beginnings of names such as `x-*`. Case counts. */
  readonly tags: string | readonly string[];
  readonly handle: TagCallback;
}

/** Where an addition stands: around the instructions, or around the last user message. */
export type AdditionPosition = 'system_prefix' | 'system_suffix' | 'user_prefix' | 'user_suffix';

/** A text that joins every request, or those for which its condition holds. */
export interface PromptAddition {
  readonly position: AdditionPosition;
  readonly content: string;
  /** Default: always. One that throws counts as not met, and is logged. */
  readonly condition?: AdditionCondition | undefined;
}

/** When an addition is included: one of three questions as data, or a function. */
export type AdditionCondition =
  /** A tag of that name (or beginning, `x-*`) stands in a user or assistant message of the conversation. */
  | { readonly type: 'tag_present'; readonly tag: string }
  /** The extension's state has that value under the key; without `equals`, any value. */
  | { readonly type: 'state_value'; readonly key: string; readonly equals?: JsonValue | undefined }
  /** The run's `context` has that value at a path such as `user.plan`; without `equals`, any value but null. */
  | { readonly type: 'context_match'; readonly path: string; readonly equals?: JsonValue | undefined }
  | ((context: ExtensionContext) => Awaitable<boolean>);

/**
 * Guidance on tools by name. A name that no tool has once all loaders are ready is logged as a warning. A registry with
 * the option `tools` refuses such a name at once. The keys may be written in snake_case as well.
 */
export interface ToolConfig {
  /** Offered first, and named as preferred. */
  readonly preferredTools?: readonly string[] | undefined;
  /** Offered last, and named as to be avoided; they can still be called. */
  readonly avoidedTools?: readonly string[] | undefined;
  /** The order that is suggested where several of them are needed. */
  readonly toolOrder?: readonly string[] | undefined;
  /** Names may become known later: until then they are left out, without a warning. */
  readonly lazy?: boolean | undefined;
}

/** {@link ToolConfig} with the keys as configuration files write them. */
export interface ToolConfigLiteral {
  readonly preferred_tools?: readonly string[] | undefined;
  readonly avoided_tools?: readonly string[] | undefined;
  readonly tool_order?: readonly string[] | undefined;
  readonly lazy?: boolean | undefined;
}

/** The members of an {@link Extension} that have a snake_case name, as configuration files write them. */
export interface ExtensionLiteral {
  readonly on_input_messages?: Extension['onInputMessages'];
  readonly on_plain_text?: Extension['onPlainText'];
  readonly on_tag?: Extension['onTag'];
  readonly on_llm_output?: Extension['onLlmOutput'];
  readonly prompt_additions?: Extension['promptAdditions'];
  readonly tool_config?: ToolConfig | ToolConfigLiteral | undefined;
}

/** What `register` takes: an {@link Extension} of which each key may be in snake_case. Both spellings of one are refused. */
export interface ExtensionInput extends Omit<Extension, 'toolConfig'>, ExtensionLiteral {
  readonly toolConfig?: ToolConfig | ToolConfigLiteral | undefined;
}

/** An extension as its registry holds it: a copy, with the defaults filled in. */
export interface RegisteredExtension extends Extension {
  readonly priority: number;
  readonly scope: ExtensionScope;
  readonly promptAdditions: readonly PromptAddition[];
  /** The session that it was registered for. */
  readonly session?: string | undefined;
}

/**
 * Returns the extension, checked by the compiler. An unknown member, such as a misspelt callback, does not compile.
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
