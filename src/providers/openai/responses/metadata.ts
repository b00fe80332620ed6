import type { ProviderMetadata } from '../../../model/message.js';
import { defined, isObject, textOr, type WireObject } from '../../shared/wire.js';

/** Facts about a message part that are stored under `providerMetadata.openai`, to be sent back. */
export interface ItemMetadata {
  /** The model that produced the message part. */
  readonly model: string;
  /** The output item of the response that the part comes from, without the fields that the part stores itself. */
  readonly item?: WireObject | undefined;
  /** The summary of a reasoning item as several strings. Set only if there are several. */
  readonly summary?: readonly string[] | undefined;
  readonly annotations?: readonly WireObject[] | undefined;
  readonly logprobs?: readonly WireObject[] | undefined;
}

interface Part {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** Returns the `providerMetadata` to store with a message part. */
export function toMetadata(metadata: ItemMetadata): { readonly providerMetadata: ProviderMetadata } {
  return { providerMetadata: { openai: defined(metadata) } };
}

/**
 * Returns the metadata that OpenAI's API has stored with a message part. Returns an empty object if the part does not
 * come from this API.
 */
export function openaiOf({ providerMetadata }: Part): WireObject {
  const metadata = providerMetadata?.openai;
  return isObject(metadata) ? metadata : {};
}

/**
 * Returns the output item that a message part comes from. Returns undefined if the part comes from another provider or
 * API.
 */
export function itemOf(part: Part): WireObject | undefined {
  const { item } = openaiOf(part);
  return isObject(item) && textOr(item.type) !== '' ? item : undefined;
}

/** True if this model produced the message part. Another model cannot decrypt its reasoning. */
export function isFrom(part: Part, model: string): boolean {
  return openaiOf(part).model === model;
}

/** Returns a copy of an item without the given fields, and without `created_by`, which requests must not contain. */
export function without(item: WireObject, ...names: readonly string[]): WireObject {
  const dropped = new Set([...names, 'created_by']);
  return Object.fromEntries(Object.entries(item).filter(([name]) => !dropped.has(name)));
}
