import type { ProviderMetadata } from '../../model/message.js';
import { defined, hasFields, isObject, objectsIn, present, type WireObject } from '../shared/wire.js';

interface MarkedPart {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/**
 * Returns metadata under `providerMetadata.anthropic` that stores the fields of a content block with the model that
 * produced it. Returns an empty object if there are no fields, unless `isMarked` is true.
 */
export function toMetadata(
  model: string,
  fields: WireObject,
  isMarked = false,
): { readonly providerMetadata?: ProviderMetadata } {
  const known = present(fields);
  return isMarked || hasFields(known) ? { providerMetadata: { anthropic: { model, ...known } } } : {};
}

/**
 * Returns the stored fields that a content block in a request to `model` must have. Leaves out fields of another model
 * or of the AI SDK, except `cache_control`. Fields that the application has set count as fields of `model`.
 */
export function fieldsOf(part: MarkedPart, model: string): WireObject {
  const metadata = part.providerMetadata?.anthropic;
  if (!isObject(metadata)) return {};
  const { model: origin, ...fields } = metadata;
  const isOurs = part.providerMetadata?.aiSdk === undefined && (origin === undefined || origin === model);
  return isOurs ? { ...fields, ...cited(fields) } : defined({ cache_control: fields.cache_control });
}

/** Removes `file_id` from citations. Responses contain this field, but requests must not. */
function cited({ citations }: WireObject): WireObject {
  if (!Array.isArray(citations)) return {};
  return { citations: objectsIn(citations).map(({ file_id, ...citation }) => citation) };
}

/** True if `model` itself produced the part. Other models refuse its thinking and the calls of its server tools. */
export function isFrom(part: MarkedPart, model: string): boolean {
  const { anthropic: metadata, aiSdk } = part.providerMetadata ?? {};
  return isObject(metadata) && metadata.model === model && aiSdk === undefined;
}
