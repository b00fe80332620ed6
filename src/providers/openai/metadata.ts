import type { ProviderMetadata } from '../../model/message.js';
import { defined, isObject, textOr, type WireObject } from '../shared/wire.js';

/** What a part remembers of the wire, under `providerMetadata.openai`. */
export interface WireMetadata {
  /** The model that the part came from. */
  readonly model?: string | undefined;
  /** The field of the message that held the part's text, where it was not `content`. */
  readonly field?: string | undefined;
  /** Fields that go back as they came: beside the tool call, or in the message. */
  readonly fields?: WireObject | undefined;
}

/** A part's `providerMetadata`; none where there is nothing to remember. */
export function toMetadata(metadata: WireMetadata): { readonly providerMetadata?: ProviderMetadata } {
  if (metadata.field === undefined && metadata.fields === undefined) return {};
  return { providerMetadata: { openai: defined(metadata) } };
}

/**
 * What a part remembers, for a request to `model`. Nothing, where the part came from another model: servers refuse
 * fields that they do not know, and a session that changes its model would be refused for ever.
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
