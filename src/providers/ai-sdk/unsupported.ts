import type { ContentPart, FilePart, ImagePart, Message, ToolResultPart } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { ProviderError } from '../shared/error.js';
import { fileNote, fileOf, textIn } from '../shared/file-data.js';
import { isObject } from '../shared/wire.js';

const PICTURE = /^image\/(jpeg|png|gif|webp|\*)$/i;

/** First what is rare is told in words, then every file. */
const STEPS = [(mediaType: string) => !PICTURE.test(mediaType), () => true];

/**
 * Providers throw for a file for which they have no place, each for others. What the user gave is the user's to change,
 * but what a tool gave would end the conversation for good: the model is told of it in words instead.
 */
export async function withFilesTold(request: ModelRequest, generate: Model['generate']): Promise<ModelResponse> {
  try {
    return await generate(request);
  } catch (error) {
    for (const isTold of isUnsupported(error) ? STEPS : []) {
      const messages = request.messages.map((message) => toldIn(message, isTold));
      if (messages.every((message, at) => message === request.messages[at])) continue;
      try {
        return await generate({ ...request, messages });
      } catch (another) {
        if (!isUnsupported(another)) throw another;
      }
    }
    throw error;
  }
}

/** Thrown before anything is sent. */
function isUnsupported(error: unknown): boolean {
  const cause = error instanceof ProviderError ? error.cause : undefined;
  return isObject(cause) && cause.name === 'AI_UnsupportedFunctionalityError';
}

function toldIn(message: Message, isTold: (mediaType: string) => boolean): Message {
  if (message.role !== 'tool') return message;
  const toldOf = (part: ContentPart): ContentPart => {
    return part.type !== 'text' && isTold(fileOf(part).mediaType) ? { type: 'text', text: inWords(part) } : part;
  };
  const content = message.content.map((result): ToolResultPart => {
    if (typeof result.content === 'string') return result;
    const parts = result.content.map(toldOf);
    return parts.some((part, at) => part !== result.content[at]) ? { ...result, content: parts } : result;
  });
  return content.some((result, at) => result !== message.content[at]) ? { ...message, content } : message;
}

function inWords(part: ImagePart | FilePart): string {
  const file = fileOf(part);
  return file.data instanceof URL ? file.data.href : (textIn(file) ?? fileNote(file));
}
