import type { JsonSchema, JsonValue } from '../../internal/json.js';

/** A question from a server to the user. Show the user which server asks, since the message can claim anything. */
export interface McpElicitation {
  readonly server: string;
  readonly message: string;
  /** The schema of a form. Set if the server asks for data. */
  readonly schema?: JsonSchema | undefined;
  /** The page that the user should visit. Set if the server asks for a visit. Show the complete URL before opening it. */
  readonly url?: string | undefined;
  /** Fires when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
}

/** The user's answer to a question from a server. */
export interface McpElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The form data, with `accept`. Missing fields get the defaults of the schema. */
  readonly content?: Readonly<Record<string, JsonValue>> | undefined;
}
