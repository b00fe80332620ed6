import type { ProviderMetadata } from '../../../model/message.js';
import { defined, isObject, textOr, type WireObject } from '../../shared/wire.js';

/** Fields of the API that are stored with a message part, under `providerMetadata.openai`, to be sent back. */
export interface WireMetadata {
  /** The model that produced the message part. */
  readonly model?: string | undefined;
  /** The message field that contained the text, if it was not `content`. */
  readonly field?: string | undefined;
  /** Fields of the tool call or the message that a later request must repeat unchanged. */
  readonly fields?: WireObject | undefined;
}

/** Returns the `providerMetadata` of a message part. Returns an empty object if nothing must be sent back. */
export function toMetadata(metadata: WireMetadata): { readonly providerMetadata?: ProviderMetadata } {
  if (metadata.field === undefined && metadata.fields === undefined) return {};
  return { providerMetadata: { openai: defined(metadata) } };
}

/**
 * Returns the stored fields of a message part for a request to `model`. Returns an empty object if another model
 * produced the part. Servers refuse unknown fields, so a session could otherwise not change its model.
 */
export function metadataOf(
  part: { readonly providerMetadata?: ProviderMetadata | undefined },
  model: string,
): WireMetadata {
  const metadata = part.providerMetadata?.openai;
  if (!isObject(metadata) || (metadata.model !== undefined && metadata.model !== model)) return {};
  return {
    field: textOr(metadata.field) || undefined,
    fields: isObject(metadata.fields) ? metadata.fields : undefined,
  };
}
