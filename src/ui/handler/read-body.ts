import { isObject } from '../../internal/json.js';
import { isMarker } from '../ai-sdk/from-ui-messages.js';
import { UIBodyInvalidError, UIBodyTooLargeError, UIBodyUsedError, UIContentTypeInvalidError } from '../error.js';
import { invalidBody } from '../invalid-body.js';
import { BodySplitter } from './split-body.js';

/**
 * The whole body may be this many times as large as `maxBodyBytes`, because a page may send the whole chat each time.
 */
const REPEATED = 16;

/**
 * Parses the messages of a JSON body while they arrive. Keeps the content of only the last message, or of all messages
 * of the role `tool` at the end. Of earlier messages, keeps the ids, the roles and the types of the parts, because the
 * session has their content.
 *
 * Refuses a body whose last message and other members have more than `maxBytes` bytes, or whose total size is more than
 * 16 times as large. Refuses other content types than JSON, because a web page of another origin can send those without
 * a CORS preflight request. Refuses keys that could change a prototype.
 */
export async function readBody(request: Request, maxBytes: number): Promise<unknown> {
  const contentType = request.headers.get('content-type');
  if (!/^application\/json\s*(;|$)/i.test(contentType ?? '')) throw new UIContentTypeInvalidError(contentType);
  if (request.bodyUsed || request.body?.locked) throw new UIBodyUsedError();
  if (Number(request.headers.get('content-length') ?? 0) > REPEATED * maxBytes) throw new UIBodyTooLargeError(maxBytes);
  const body = new BodyParser(maxBytes);
  const reader = request.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) body.write(next.value);
    return body.end();
  } catch (error) {
    void reader?.cancel().catch(() => {});
    if (error instanceof UIBodyTooLargeError || error instanceof UIBodyInvalidError) throw error;
    throw new UIBodyInvalidError('The body must be complete and valid JSON, in UTF-8.', { cause: error });
  }
}

/** A message of the body, and its size in bytes. */
interface Sized {
  readonly value: unknown;
  readonly size: number;
}

class BodyParser {
  private readonly splitter = new BodySplitter({
    list: () => {
      this.messages = [];
    },
    item: ({ text, size }) => this.addMessage({ value: JSON.parse(text), size }),
  });
  private messages: unknown[] = [];
  /**
   * The messages whose content is kept: the last one, or the tool results at the end. Excludes a message that only
   * marks a summary.
   */
  private last: { readonly message: Sized; readonly index: number }[] = [];
  /** The size in bytes of all messages in `last` except the newest one. */
  private lastBytes = 0;
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  write(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength;
    if (this.bytes > REPEATED * this.maxBytes) throw new UIBodyTooLargeError(this.maxBytes);
    this.splitter.write(chunk);
    if (this.splitter.restBytes > this.maxBytes) throw new UIBodyTooLargeError(this.maxBytes);
  }

  end(): unknown {
    const root: unknown = JSON.parse(this.splitter.end());
    if (!isObject(root)) throw invalidBody('the body', 'an object', root);
    const kept = this.splitter.restBytes + this.lastBytes + (this.last.at(-1)?.message.size ?? 0);
    if (kept > this.maxBytes) throw new UIBodyTooLargeError(this.maxBytes);
    const body = Array.isArray(root.messages) ? { ...root, messages: this.messages } : root;
    checkKeys(body);
    return body;
  }

  private addMessage(message: Sized): void {
    const { messages } = this;
    if (messages.length === 0) this.last = [];
    if (isMarker(message.value)) return void messages.push(outline(message.value));
    const before = this.last.at(-1)?.message;
    const isMore = isResult(message.value) && isResult(before?.value);
    this.lastBytes = isMore ? this.lastBytes + (before?.size ?? 0) : 0;
    if (!isMore || this.lastBytes > this.maxBytes) {
      for (const one of this.last) messages[one.index] = outline(one.message.value);
      this.last = [];
    }
    this.last.push({ message, index: messages.push(message.value) - 1 });
  }
}

/** Returns true for an AG-UI message with a tool result. */
function isResult(message: unknown): boolean {
  return isObject(message) && message.role === 'tool';
}

function outline(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { id, role, parts } = message;
  if (!Array.isArray(parts)) return { id, role };
  return { id, role, parts: parts.map((part) => (isObject(part) ? { type: part.type } : part)) };
}

function checkKeys(root: unknown): void {
  const values = [root];
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      checkKey(key, inner);
      values.push(inner ?? null);
    }
  }
}

function checkKey(key: string, value: unknown): void {
  if (key === '__proto__' || (key === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))) {
    throw new UIBodyInvalidError(`The body must not contain the key "${key}".`);
  }
}
