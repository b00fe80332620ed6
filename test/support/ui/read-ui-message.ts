import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai';
import { expect } from 'vitest';

/** Reads the chunks of a response, and validates each chunk with the schema of `ai`. */
export async function readChunks(response: Response): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  const stream = parseJsonEventStream({ stream: bodyOf(response), schema: uiMessageChunkSchema });
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    if (!value.success) throw value.error;
    chunks.push(value.value);
  }
}

/** Returns the message that the reader of `ai` builds of the chunks. Fails if the reader reports an error. */
export async function readMessage(chunks: readonly UIMessageChunk[], message?: UIMessage): Promise<UIMessage> {
  // The reader reports an error chunk as an error, which is not a violation of the protocol.
  const sent = chunks.filter(({ type }) => type !== 'error');
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of sent) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last = message;
  const options = { stream, terminateOnError: true, ...(message && { message: structuredClone(message) }) };
  for await (const state of readUIMessageStream(options)) last = state;
  if (last === undefined) return expect.fail('The stream contains no message.');
  return last;
}

/** Returns the body of a response; fails if the response has none. */
export function bodyOf(response: Response): ReadableStream<Uint8Array<ArrayBuffer>> {
  return response.body ?? expect.fail('The response has no body.');
}

/** Returns the text of the text parts of a UI message. */
export function shownText({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
