import type { ProviderMetadata } from '../../../model/message.js';
import { defined, isObject, textOr, type WireObject } from '../../shared/wire.js';

/** The fields kept with a message part, under `providerMetadata.openai`. */
export interface ItemMetadata {
  /** The model that produced the part. */
  readonly model: string;
  /** The output item of the part, without the fields that the part already has. */
  readonly item?: WireObject | undefined;
  /** The texts of a reasoning item's summary, if there are several. */
  readonly summary?: readonly string[] | undefined;
  readonly annotations?: readonly WireObject[] | undefined;
  readonly logprobs?: readonly WireObject[] | undefined;
}

interface Part {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** Returns the `providerMetadata` of a part. */
export function toMetadata(metadata: ItemMetadata): { readonly providerMetadata: ProviderMetadata } {
  return { providerMetadata: { openai: defined(metadata) } };
}

/** Returns the metadata of a part as an object. Returns an empty object if OpenAI's API did not produce the part. */
export function openaiOf({ providerMetadata }: Part): WireObject {
  const metadata = providerMetadata?.openai;
  return isObject(metadata) ? metadata : {};
}

/** Returns the output item of a part. Returns undefined for a part of another provider or API. */
export function itemOf(part: Part): WireObject | undefined {
  const { item } = openaiOf(part);
  return isObject(item) && textOr(item.type) !== '' ? item : undefined;
}

/** True if this model produced the part. Another model cannot decrypt its reasoning. */
export function isFrom(part: Part, model: string): boolean {
  return openaiOf(part).model === model;
}

/** Returns a copy of an item without the given fields, and without `created_by`, which requests must not contain. */
export function without(item: WireObject, ...names: readonly string[]): WireObject {
  const dropped = new Set([...names, 'created_by']);
  return Object.fromEntries(Object.entries(item).filter(([name]) => !dropped.has(name)));
}
