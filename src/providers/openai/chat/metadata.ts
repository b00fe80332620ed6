import type { ProviderMetadata } from '../../../model/message.js';
import { defined, isObject, textOr, type WireObject } from '../../shared/wire.js';

/** Provider fields kept with a message part, under `providerMetadata.openai`. */
export interface WireMetadata {
  /** The model that produced the part. */
  readonly model?: string | undefined;
  /** The message field from which the text was read, if it was not `content`. */
  readonly field?: string | undefined;
  /** Fields of the tool call or the message that are sent back unchanged. */
  readonly fields?: WireObject | undefined;
}

/** Returns `providerMetadata` for a part. Returns an empty object if neither a field name nor fields must be kept. */
export function toMetadata(metadata: WireMetadata): { readonly providerMetadata?: ProviderMetadata } {
  if (metadata.field === undefined && metadata.fields === undefined) return {};
  return { providerMetadata: { openai: defined(metadata) } };
}

/**
 * Returns the fields kept with a part, for a request to `model`. Returns nothing if another model produced the part,
 * because servers refuse unknown fields. Otherwise a session that changes its model would fail on every request.
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
