import type { ProviderMetadata } from '../../model/message.js';
import { hasFields, isObject, type WireObject } from '../shared/wire.js';

interface Part {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** What is remembered beside a provider's own metadata, under `providerMetadata.aiSdk`. */
interface Origin {
  /** Whose part it is, such as `openai.responses`. */
  readonly provider: string;
  /** A part that only this provider understands, as it came. */
  readonly part?: WireObject;
}

/** A part's metadata with whose it is. `metadata` is the provider's own, keyed by provider. */
export function markedBy(origin: Origin, metadata: unknown): { readonly providerMetadata: ProviderMetadata } {
  return { providerMetadata: { ...(isObject(metadata) && metadata), aiSdk: origin } };
}

/** The same, where there is metadata that must go back. */
export function markedMetadata(provider: string, metadata: unknown): Part {
  return hasFields(metadata) ? markedBy({ provider }, metadata) : {};
}

/** Where a part came from, if it came by a model of the AI SDK. */
export function originOf({ providerMetadata }: Part): Partial<Origin> {
  const origin = providerMetadata?.aiSdk;
  return isObject(origin) ? origin : {};
}

/**
 * A part's metadata as options for a request to a provider. Nothing where the part came from another one. What the
 * application put on a part itself, such as a mark for caching, always goes along.
 */
export function optionsOf(part: Part, provider: string): { readonly providerOptions?: WireObject } {
  const { aiSdk, ...options } = part.providerMetadata ?? {};
  const { provider: from = provider } = originOf(part);
  return from === provider && hasFields(options) ? { providerOptions: options } : {};
}
