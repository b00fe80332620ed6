import type { ContentPart, FilePart, ImagePart, Message, ToolResultPart } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { ProviderError } from '../shared/error.js';
import { type FileData, fileNote, fileOf, textIn } from '../shared/file-data.js';
import { defined, isObject, type WireObject } from '../shared/wire.js';
import type { AiSdkModel, AiSdkUrls } from './model.js';

/** A downloaded file. */
interface AiSdkDownload {
  readonly data: Uint8Array;
  /** The `content-type` of the HTTP response. Required if the image or file in the message has no `mediaType`. */
  readonly mediaType?: string | undefined;
}

/** Downloads a file from a URL that the model cannot read itself. */
export type AiSdkDownloader = (url: URL, signal: AbortSignal | undefined) => Promise<AiSdkDownload | Uint8Array>;

/**
 * The downloaded files, by URL. Contains each URL that the model cannot read. Without a `download` callback, the values
 * are undefined.
 */
export type Downloads = ReadonlyMap<string, AiSdkDownload | undefined>;

interface DownloadRequest {
  readonly model: AiSdkModel;
  readonly download: AiSdkDownloader | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Downloads the files of the messages whose URLs the model cannot read itself. Calls `download` once for each URL. */
export async function downloadsFor(messages: readonly Message[], request: DownloadRequest): Promise<Downloads> {
  const files = messages.flatMap(filesIn).filter(({ data }) => data instanceof URL);
  if (files.length === 0) return new Map();
  const supported = (await request.model.supportedUrls) ?? {};
  const refused = files.filter((file) => !isSupported(file, supported)).map(({ data }) => data as URL);
  const urls = [...new Map(refused.map((url) => [url.href, url])).values()];
  return new Map(await Promise.all(urls.map(async (url) => [url.href, await downloaded(url, request)] as const)));
}

/**
 * Returns the file with its downloaded data, or the file itself if the model reads its URL. Returns undefined if the
 * model cannot read the URL and nothing was downloaded.
 */
export function withDownload(file: FileData, downloads: Downloads): FileData | undefined {
  const { data, mediaType } = file;
  if (!(data instanceof URL) || !downloads.has(data.href)) return file;
  const loaded = downloads.get(data.href);
  if (loaded === undefined) return undefined;
  return {
    ...file,
    data: loaded.data,
    mediaType: mediaType.includes('*') ? (loaded.mediaType ?? mediaType) : mediaType,
  };
}

/**
 * Returns the data of a file in the form that a version of the AI SDK specification requires. Version 4 wraps the data
 * in an object with a type.
 */
function wireData({ data }: FileData, version: AiSdkModel['specificationVersion']): unknown {
  if (version !== 'v4') return data;
  return data instanceof URL ? { type: 'url', url: data } : { type: 'data', data };
}

/** Returns a file as a part of a prompt. */
export function filePart(file: FileData, version: AiSdkModel['specificationVersion']): WireObject {
  const { mediaType, filename } = file;
  return defined({ type: 'file', data: wireData(file, version), mediaType, filename });
}

function filesIn(message: Message): readonly FileData[] {
  if (message.role === 'tool') return message.content.flatMap(({ content }) => filesOf(content));
  return message.role === 'user' ? filesOf(message.content) : [];
}

function filesOf(content: string | readonly ContentPart[]): readonly FileData[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => (part.type === 'text' ? [] : [fileOf(part)]));
}

/** True if the model can read the URL of the file itself. Compares the URL in lower case, as the AI SDK does. */
function isSupported({ data, mediaType }: FileData, supported: AiSdkUrls): boolean {
  const url = String(data).toLowerCase();
  return Object.entries(supported).some(([type, patterns]) => {
    const prefix = type === '*' ? '' : type.toLowerCase().replace(/\*.*$/, '');
    return mediaType.toLowerCase().startsWith(prefix) && patterns.some((pattern) => new RegExp(pattern).test(url));
  });
}

async function downloaded(url: URL, { download, signal }: DownloadRequest): Promise<AiSdkDownload | undefined> {
  const loaded = await download?.(url, signal);
  return loaded instanceof Uint8Array ? { data: loaded } : loaded;
}

const PICTURE = /^image\/(jpeg|png|gif|webp|\*)$/i;

/**
 * Each step decides which files become notes, by media type: first all files except common images, and then all files.
 */
const STEPS = [(mediaType: string) => !PICTURE.test(mediaType), () => true];

/**
 * Sends a request. If the provider does not support a file in a tool result, sends the request again with text in place
 * of such files. Otherwise the file would make each later request fail.
 *
 * An unsupported file in a user message stays an error.
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

/**
 * True for the error that an AI SDK provider throws, before it sends a request, for something that it does not support.
 */
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
