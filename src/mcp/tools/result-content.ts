import { isObject, type JsonValue } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import type { ContentPart } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';

type Fields = Readonly<Record<string, unknown>>;

/** Of names, addresses and types in a text that is made here. */
const MAX_LABEL = 500;

/** The result of a call as the model gets it. Parts of a kind that is not known are kept as JSON, and nothing is lost. */
export function toResult(answer: Fields): ToolResult {
  const { content, structuredContent, isError, _meta, ...unknown } = answer;
  const structured = (structuredContent ?? undefined) as JsonValue | undefined;
  const rest = structured ?? (Object.keys(unknown).length > 0 ? unknown : undefined);
  return {
    content: contentOf(partsOf(content), rest),
    ...(structured !== undefined && { structured }),
    // What says in any way that it failed is not passed off as a success.
    ...((isError === true || isError === 'true') && { isError: true }),
  };
}

/** Some servers give one part, or its text, in the place of a list. */
function partsOf(content: unknown): readonly ContentPart[] {
  if (Array.isArray(content)) return content.map(toPart);
  if (typeof content === 'string') return [text(content)];
  return content === undefined || content === null ? [] : [toPart(content)];
}

function contentOf(parts: readonly ContentPart[], rest: unknown): ToolResult['content'] {
  const [first] = parts;
  if (first === undefined) return rest === undefined ? '' : JSON.stringify(rest);
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}

/** One part of a result, or of a message of a prompt. */
export function toPart(block: unknown): ContentPart {
  if (!isObject(block)) return text(JSON.stringify(block) ?? '');
  const { type, mimeType } = block;
  if (type === 'text' && typeof block.text === 'string') return text(block.text);
  if (type === 'image') return binaryPart(block.data, mimeType, { what: 'an image' });
  if (type === 'audio') return binaryPart(block.data, mimeType, { what: 'a sound' });
  if (type === 'resource' && isObject(block.resource)) return resourcePart(block.resource);
  if (type === 'resource_link') return text(linkText(block));
  return text(JSON.stringify(block));
}

/** A resource that came along. Its address goes with it, since the model may have to name it. */
function resourcePart(resource: Fields): ContentPart {
  const uri = label(resource.uri);
  if (typeof resource.text === 'string') return text(`[resource ${uri}]\n${resource.text}`);
  const mimeType = resource.mimeType ?? 'application/octet-stream';
  return binaryPart(resource.blob, mimeType, { what: `the resource ${uri}`, uri });
}

function linkText({ uri, name, title, description, mimeType }: Fields): string {
  const details = [title ?? name, mimeType, description].filter((part) => (part ?? undefined) !== undefined).map(label);
  return `[resource link ${label(uri)}${details.length > 0 ? `: ${details.join(', ')}` : ''}]`;
}

/** Base64 that is none would make the provider refuse the whole conversation, so it does not get that far. */
function binaryPart(data: unknown, mimeType: unknown, { what, uri }: { what: string; uri?: string }): ContentPart {
  const mediaType =
    typeof mimeType === 'string' && /^[\w.+-]+\/[\w.+-]+(?:;.*)?$/.test(mimeType) ? mimeType : undefined;
  const base64 = plainBase64(data);
  if (base64 === undefined) return text(`[${what} that is no base64]`);
  if (mediaType === undefined) return text(`[${what} of no known type, ${base64.length} characters of base64]`);
  if (mediaType.startsWith('image/')) return { type: 'image', image: base64, mediaType };
  const filename = uri?.split(/[?#]/)[0]?.split('/').pop();
  return { type: 'file', data: base64, mediaType, ...(filename && { filename }) };
}

/** In the one form that every provider takes: servers also leave out the padding, or write the kind that addresses have. */
function plainBase64(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  const inner = data.replace(/^data:[^,]{0,200};base64,/, '').replace(/\s+/g, '');
  const digits = inner
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  if (digits.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(digits)) return undefined;
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}

function label(value: unknown): string {
  return safeText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), { maxLength: MAX_LABEL });
}

function text(value: string): ContentPart {
  return { type: 'text', text: value };
}
