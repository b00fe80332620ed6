import { isObject } from '../internal/json.js';
import type { AssistantPart, ProviderMetadata } from '../model/message.js';

/** A web page that an answer cites. */
export interface Source {
  readonly sourceId: string;
  readonly url: string;
  readonly title?: string;
}

/**
 * Returns the web pages that a response cites, each once. Reads the citations of OpenAI, Anthropic and the AI SDK from
 * the metadata of the response and its parts. Omits addresses other than `http:` and `https:`.
 */
export function sourcesOf(
  content: readonly AssistantPart[],
  metadata: ProviderMetadata | undefined,
): readonly Source[] {
  const all = [metadata, ...content.map((part) => part.providerMetadata)].flatMap(citationsOf);
  return [...new Map(all.map((source) => [source.url, source])).values()];
}

function citationsOf(metadata: ProviderMetadata | undefined): Source[] {
  const { aiSdk, openai, anthropic } = metadata ?? {};
  const lists = [member(aiSdk, 'sources'), member(openai, 'annotations'), member(anthropic, 'citations')];
  return lists.flatMap((list) => (Array.isArray(list) ? list.flatMap(sourceOf) : []));
}

function sourceOf(citation: unknown): Source[] {
  // OpenAI's chat completions API nests the address.
  const fields = member(citation, 'url_citation') ?? citation;
  const url = member(fields, 'url');
  if (typeof url !== 'string' || !/^https?:/i.test(url)) return [];
  const title = member(fields, 'title');
  const source = { sourceId: url, url };
  return [typeof title === 'string' ? { ...source, title } : source];
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
