import { isObject } from '../../internal/json.js';
import { UIBodyInvalidError, UIBodyTooLargeError, UIContentTypeInvalidError } from '../error.js';

/**
 * Reads a JSON body of at most `maxBytes` bytes. Refuses other content types, because a page of another origin can send
 * those without a preflight request. Refuses keys that could change a prototype.
 */
export async function readBody(request: Request, maxBytes: number): Promise<unknown> {
  const contentType = request.headers.get('content-type');
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) throw new UIContentTypeInvalidError(contentType);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw new UIBodyTooLargeError(maxBytes);
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text, checkKeys);
  } catch (error) {
    if (error instanceof UIBodyInvalidError) throw error;
    throw new UIBodyInvalidError('The body must be valid JSON.');
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  const reader = request.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      size += next.value.byteLength;
      if (size > maxBytes) throw new UIBodyTooLargeError(maxBytes);
      text += decoder.decode(next.value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    void reader?.cancel().catch(() => {});
    if (error instanceof UIBodyTooLargeError) throw error;
    throw new UIBodyInvalidError('The body must be complete and valid UTF-8.', { cause: error });
  }
}

function checkKeys(key: string, value: unknown): unknown {
  if (key === '__proto__' || (key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))) {
    throw new UIBodyInvalidError(`The body must not contain the key "${key}".`);
  }
  return value;
}
