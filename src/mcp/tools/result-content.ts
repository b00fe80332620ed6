import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonValue, toJson } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import type { ContentPart } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';

type Fields = Readonly<Record<string, unknown>>;

const MAX_LABEL = 500;
const MAX_ERROR = 100_000;

/**
 * Converts the result of `tools/call` into a tool result. Structured content that no text repeats is added as JSON, so
 * that the model reads it. Content of an unknown type is kept as JSON. With `isValid: false`, structured content is
 * left out.
 */
export function toResult(answer: Fields, isValid = true): ToolResult {
  const { content, structuredContent, isError, _meta, ...unknown } = answer;
  const structured = isValid ? ((structuredContent ?? undefined) as JsonValue | undefined) : undefined;
  const parts = partsOf(content);
  const rest = structured ?? (parts.length === 0 && Object.keys(unknown).length > 0 ? unknown : undefined);
  const all = rest === undefined || isRepeated(rest, parts) ? parts : [...parts, text(toJson(rest))];
  // Some servers send the string 'true'.
  const isFailed = isError === true || isError === 'true';
  const result: { -readonly [Key in keyof ToolResult]: ToolResult[Key] } = {
    content: contentOf(isFailed ? shortenedParts(all) : all),
  };
  if (structured !== undefined) result.structured = structured;
  if (isFailed) result.isError = true;
  return result;
}

/**
 * True if a text part repeats the data, or the only value in the data. Servers wrap a plain result in an object such as
 * `{ "result": 5 }`.
 */
function isRepeated(data: unknown, parts: readonly ContentPart[]): boolean {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const read = texts.map(readJson);
  const values = isObject(data) ? Object.values(data) : [];
  const wanted = values.length === 1 ? [data, values[0]] : [data];
  return wanted.some((value) => [...texts, ...read, read].some((found) => isDeepStrictEqual(found, value)));
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Some servers send a single part, or a string, instead of an array. */
function partsOf(content: unknown): readonly ContentPart[] {
  if (Array.isArray(content)) return content.map(toPart);
  if (typeof content === 'string') return [text(content)];
  return content === undefined || content === null ? [] : [toPart(content)];
}

function shortenedParts(parts: readonly ContentPart[]): readonly ContentPart[] {
  const length = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
  if (length <= MAX_ERROR) return parts;
  const whole = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return [...parts.filter(({ type }) => type !== 'text'), text(`${whole.slice(0, MAX_ERROR)}… (${length} characters)`)];
}

function contentOf(parts: readonly ContentPart[]): ToolResult['content'] {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}

export function toPart(block: unknown): ContentPart {
  if (!isObject(block)) return text(toJson(block) ?? '');
  const { type, mimeType } = block;
  if (type === 'text' && typeof block.text === 'string') return text(block.text);
  if (type === 'image') return binaryPart(block.data, mimeType, { what: 'an image' });
  if (type === 'audio') return binaryPart(block.data, mimeType, { what: 'a sound' });
  if (type === 'resource' && isObject(block.resource)) return resourcePart(block.resource);
  if (type === 'resource_link') return text(linkText(block));
  return text(toJson(block));
}

/** Converts an embedded resource. Includes its URI, since the model may have to refer to the resource. */
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

/** Converts binary data. Invalid base64 becomes text, since a provider would refuse the whole conversation. */
function binaryPart(data: unknown, mimeType: unknown, { what, uri }: { what: string; uri?: string }): ContentPart {
  const isType = typeof mimeType === 'string' && /^[\w.+-]+\/[\w.+-]+(?:;.*)?$/.test(mimeType);
  const mediaType = isType ? mimeType.toLowerCase() : undefined;
  const base64 = plainBase64(data);
  if (base64 === undefined) return text(`[${what} with invalid base64]`);
  if (mediaType === undefined) return text(`[${what} of unknown type, ${base64.length} characters of base64]`);
  if (mediaType.startsWith('image/')) return { type: 'image', image: base64, mediaType };
  const filename = uri?.split(/[?#]/)[0]?.split('/').pop();
  const file = { type: 'file', data: base64, mediaType } as const;
  return filename ? { ...file, filename } : file;
}

/** Normalizes base64 to standard characters and padding. Servers also send base64url, data URLs and no padding. */
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
