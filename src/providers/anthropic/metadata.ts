import type { ProviderMetadata } from '../../model/message.js';
import { defined, hasFields, isObject, objectsIn, present, type WireObject } from '../shared/wire.js';

interface MarkedPart {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/**
 * What a part remembers of its block, under `providerMetadata.anthropic`: its fields beside the text, and the model that
 * it came from. None where there is nothing to remember.
 */
export function toMetadata(model: string, fields: WireObject): { readonly providerMetadata?: ProviderMetadata } {
  const known = present(fields);
  return hasFields(known) ? { providerMetadata: { anthropic: { model, ...known } } } : {};
}

/**
 * The fields that go onto a part's block, for a request to `model`: those that it came with from that model, and those
 * that somebody gave it. Of another model's, and of those of the AI SDK's, only what Anthropic is to keep in its cache.
 */
export function fieldsOf(part: MarkedPart, model: string): WireObject {
  const metadata = part.providerMetadata?.anthropic;
  if (!isObject(metadata)) return {};
  const { model: origin, ...fields } = metadata;
  const isOurs = part.providerMetadata?.aiSdk === undefined && (origin === undefined || origin === model);
  return isOurs ? { ...fields, ...cited(fields) } : defined({ cache_control: fields.cache_control });
}

/** A citation names a file in an answer, and must not in a request. */
function cited({ citations }: WireObject): WireObject {
  if (!Array.isArray(citations)) return {};
  return { citations: objectsIn(citations).map(({ file_id, ...citation }) => citation) };
}

/** Whether a part came from the model. Its thoughts go back to no other, and neither does what was run for it. */
export function isFrom(part: MarkedPart, model: string): boolean {
  const { anthropic: metadata, aiSdk } = part.providerMetadata ?? {};
  return isObject(metadata) && metadata.model === model && aiSdk === undefined;
}
