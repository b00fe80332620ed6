import type { ProviderMetadata } from '../../model/message.js';
import { hasFields, isObject, type WireObject } from '../shared/wire.js';

interface Part {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** Metadata under `providerMetadata.aiSdk`, next to the provider's own metadata. */
interface Origin {
  /** The provider that produced the part, such as `openai.responses`. */
  readonly provider: string;
  /** The original part, if only this provider understands it. */
  readonly part?: WireObject;
  /** The model that made the call. Set if other models may refuse the form of the call's id. */
  readonly model?: string;
  /** The id of the provider's request to approve this call. */
  readonly approvalId?: string;
}

/** Returns a part's metadata with its origin. `metadata` comes from the provider, keyed by provider. */
export function markedBy(origin: Origin, metadata: unknown): { readonly providerMetadata: ProviderMetadata } {
  return { providerMetadata: { ...(isObject(metadata) && metadata), aiSdk: origin } };
}

/** Returns a part's metadata with its provider. Returns an empty object if nothing must be sent back. */
export function markedMetadata(provider: string, metadata: unknown): Part {
  return hasFields(metadata) ? markedBy({ provider }, metadata) : {};
}

/** Returns the origin of a part. Returns an empty object if the part does not come from an AI SDK model. */
export function originOf({ providerMetadata }: Part): Partial<Origin> {
  const origin = providerMetadata?.aiSdk;
  return isObject(origin) ? origin : {};
}

/**
 * Returns a part's metadata as options for a request to a provider. Metadata from another provider is dropped.
 * Metadata set by the application, such as a cache marker, is always sent.
 */
export function optionsOf(part: Part, provider: string): { readonly providerOptions?: WireObject } {
  const { aiSdk, ...options } = part.providerMetadata ?? {};
  const { provider: from = provider } = originOf(part);
  return from === provider && hasFields(options) ? { providerOptions: options } : {};
}
