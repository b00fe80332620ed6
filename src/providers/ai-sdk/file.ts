import type { ContentPart, Message } from '../../model/message.js';
import { type FileData, fileOf } from '../shared/file-data.js';
import { defined, type WireObject } from '../shared/wire.js';
import type { AiSdkModel, AiSdkUrls } from './model.js';

/** A downloaded file. */
export interface AiSdkDownload {
  readonly data: Uint8Array;
  /** The `content-type` of the HTTP response. Required if the part has no media type, as in an image part. */
  readonly mediaType?: string | undefined;
}

/** Downloads a file from a URL that the model does not read itself. */
export type AiSdkDownloader = (url: URL, signal: AbortSignal | undefined) => Promise<AiSdkDownload | Uint8Array>;

/**
 * Downloaded files by URL, for each URL that the model does not read. The value is undefined without a `download`
 * callback.
 */
export type Downloads = ReadonlyMap<string, AiSdkDownload | undefined>;

interface DownloadRequest {
  readonly model: AiSdkModel;
  readonly download: AiSdkDownloader | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Calls `download` once for each URL in the messages that the model does not read. */
export async function downloadsFor(messages: readonly Message[], request: DownloadRequest): Promise<Downloads> {
  const files = messages.flatMap(filesIn).filter(({ data }) => data instanceof URL);
  if (files.length === 0) return new Map();
  const supported = (await request.model.supportedUrls) ?? {};
  const refused = files.filter((file) => !isSupported(file, supported)).map(({ data }) => data as URL);
  const urls = [...new Map(refused.map((url) => [url.href, url])).values()];
  return new Map(await Promise.all(urls.map(async (url) => [url.href, await downloaded(url, request)] as const)));
}

/**
 * Returns the file with its downloaded data. Returns undefined if the model does not read the URL and nothing was
 * downloaded.
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

/** Returns a file's data in the form of the specification version; v4 wraps the data in an object with a type. */
function wireData({ data }: FileData, version: AiSdkModel['specificationVersion']): unknown {
  if (version !== 'v4') return data;
  return data instanceof URL ? { type: 'url', url: data } : { type: 'data', data };
}

/** Returns the prompt part for a file. */
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

/** Matches like the AI SDK, with the URL in lower case. */
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
