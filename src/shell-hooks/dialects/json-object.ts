import type { JsonValue } from '../../internal/json.js';

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };
