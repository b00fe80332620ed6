import type { JsonSchema, JsonValue } from '../internal/json.js';

/** What a server wants to ask the user. It says so itself: show which server asks. */
export interface McpElicitation {
  readonly server: string;
  readonly message: string;
  /** The fields of a form, where it asks for data. */
  readonly schema?: JsonSchema | undefined;
  /** Where the user is to go, where it asks for that. Show it whole before it is opened. */
  readonly url?: string | undefined;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What the user answered. */
export interface McpElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The fields, with `accept`. Defaults of the schema are filled in. */
  readonly content?: Readonly<Record<string, JsonValue>> | undefined;
}
