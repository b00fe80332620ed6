/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON Schema document, draft 2020-12 unless it says otherwise. */
export type JsonSchema = { readonly [key: string]: unknown };
