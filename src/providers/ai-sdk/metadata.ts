import type { ProviderMetadata } from '../../model/message.js';
import { hasFields, isObject, type WireObject } from '../shared/wire.js';

interface Part {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/**
 * Facts about a message part that Keelson stores under `providerMetadata.aiSdk`, next to the provider's own metadata.
 */
interface Origin {
  /** The provider that produced the part, such as `openai.responses`. */
  readonly provider: string;
  /** The original part of the provider's response. Set if only this provider understands it. */
  readonly part?: WireObject;
  /** The model that made the tool call. Set if other models may refuse the form of the call's id. */
  readonly model?: string;
  /** The id with which the provider asked for approval of this tool call. */
  readonly approvalId?: string;
}

/**
 * Returns metadata that contains the origin of a message part and the provider's own metadata for it. `metadata` has
 * one field per provider.
 */
export function markedBy(origin: Origin, metadata: unknown): { readonly providerMetadata: ProviderMetadata } {
  return { providerMetadata: { ...(isObject(metadata) && metadata), aiSdk: origin } };
}

/**
 * Returns the metadata of a message part with the name of its provider. Returns an empty object if the provider sent no
 * metadata.
 */
export function markedMetadata(provider: string, metadata: unknown): Part {
  return hasFields(metadata) ? markedBy({ provider }, metadata) : {};
}

/** Returns the stored origin of a message part. Returns an empty object if an AI SDK model did not produce the part. */
export function originOf({ providerMetadata }: Part): Partial<Origin> {
  const origin = providerMetadata?.aiSdk;
  return isObject(origin) ? origin : {};
}

/**
 * Returns the metadata of a message part as options for a request. Leaves out metadata of another provider, because
 * this provider would not understand it. Metadata that the application has set is always sent.
 */
export function optionsOf(part: Part, provider: string): { readonly providerOptions?: WireObject } {
  const { aiSdk, ...options } = part.providerMetadata ?? {};
  const { provider: from = provider } = originOf(part);
  return from === provider && hasFields(options) ? { providerOptions: options } : {};
}
