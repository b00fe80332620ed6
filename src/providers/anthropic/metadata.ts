import type { ProviderMetadata } from '../../model/message.js';
import { defined, hasFields, isObject, objectsIn, present, type WireObject } from '../shared/wire.js';

interface MarkedPart {
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/**
 * Returns metadata that keeps a block's fields and its model, under `providerMetadata.anthropic`. Returns an empty
 * object if no fields are to be kept, unless `isMarked` asks for the model alone.
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
 * Returns the fields for a part's block in a request to `model`. Includes the fields set by that model or by the
 * application. For a part from another model or from the AI SDK, includes only `cache_control`.
 */
export function fieldsOf(part: MarkedPart, model: string): WireObject {
  const metadata = part.providerMetadata?.anthropic;
  if (!isObject(metadata)) return {};
  const { model: origin, ...fields } = metadata;
  const isOurs = part.providerMetadata?.aiSdk === undefined && (origin === undefined || origin === model);
  return isOurs ? { ...fields, ...cited(fields) } : defined({ cache_control: fields.cache_control });
}

/** Removes `file_id` from citations, because responses contain it but requests must not. */
function cited({ citations }: WireObject): WireObject {
  if (!Array.isArray(citations)) return {};
  return { citations: objectsIn(citations).map(({ file_id, ...citation }) => citation) };
}

/** True if `model` produced the part. Other models refuse the thinking and the server tool calls of the part. */
export function isFrom(part: MarkedPart, model: string): boolean {
  const { anthropic: metadata, aiSdk } = part.providerMetadata ?? {};
  return isObject(metadata) && metadata.model === model && aiSdk === undefined;
}
