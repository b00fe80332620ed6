import type { ContentPart, FilePart, ImagePart, Message, ToolResultPart } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { ProviderError } from '../shared/error.js';
import { fileNote, fileOf, textIn } from '../shared/file-data.js';
import { isObject } from '../shared/wire.js';

const PICTURE = /^image\/(jpeg|png|gif|webp|\*)$/i;

/** First files other than common images are replaced with notes, then all files. */
const STEPS = [(mediaType: string) => !PICTURE.test(mediaType), () => true];

/**
 * Retries a request with notes in place of files that the provider does not support.
 * Only files in tool results are replaced, since each later request would fail too. An unsupported file from the user
 * stays an error.
 */
export async function withFileNotes(request: ModelRequest, generate: Model['generate']): Promise<ModelResponse> {
  try {
    return await generate(request);
  } catch (error) {
    for (const isReplaced of isUnsupported(error) ? STEPS : []) {
      const messages = request.messages.map((message) => withNotes(message, isReplaced));
      if (messages.every((message, at) => message === request.messages[at])) continue;
      try {
        return await generate({ ...request, signal: request.signal, messages });
      } catch (another) {
        if (!isUnsupported(another)) throw another;
      }
    }
    throw error;
  }
}

/** True for an AI SDK error that a provider throws before it sends the request. */
function isUnsupported(error: unknown): boolean {
  const cause = error instanceof ProviderError ? error.cause : undefined;
  return isObject(cause) && cause.name === 'AI_UnsupportedFunctionalityError';
}

function withNotes(message: Message, isReplaced: (mediaType: string) => boolean): Message {
  if (message.role !== 'tool') return message;
  const fileOrNote = (part: ContentPart): ContentPart => {
    return part.type !== 'text' && isReplaced(fileOf(part).mediaType) ? { type: 'text', text: noteFor(part) } : part;
  };
  const content = message.content.map((result): ToolResultPart => {
    if (typeof result.content === 'string') return result;
    const parts = result.content.map(fileOrNote);
    return parts.some((part, at) => part !== result.content[at]) ? { ...result, content: parts } : result;
  });
  return content.some((result, at) => result !== message.content[at]) ? { ...message, content } : message;
}

function noteFor(part: ImagePart | FilePart): string {
  const file = fileOf(part);
  return file.data instanceof URL ? file.data.href : (textIn(file) ?? fileNote(file));
}
