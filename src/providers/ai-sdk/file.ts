import type { ContentPart, Message } from '../../model/message.js';
import { type FileData, fileOf } from '../shared/file-data.js';
import type { WireObject } from '../shared/wire.js';
import type { AiSdkModel, AiSdkUrls } from './model.js';

/** A file that was loaded from its address. */
export interface AiSdkDownload {
  readonly data: Uint8Array;
  /** What the server called it; needed where the part does not say, as with pictures. */
  readonly mediaType?: string | undefined;
}

/** Loads what a model does not read from its address. */
export type AiSdkDownloader = (url: URL, signal: AbortSignal | undefined) => Promise<AiSdkDownload | Uint8Array>;

/** What the model does not read from their addresses, by address. Only `download` gets there: nothing is fetched here. */
export type Downloads = ReadonlyMap<string, AiSdkDownload | undefined>;

interface DownloadRequest {
  readonly model: AiSdkModel;
  readonly download: AiSdkDownloader | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Looks after every address in a conversation that the model does not take. */
export async function downloadsFor(messages: readonly Message[], request: DownloadRequest): Promise<Downloads> {
  const files = messages.flatMap(filesIn).filter(({ data }) => data instanceof URL);
  if (files.length === 0) return new Map();
  const supported = (await request.model.supportedUrls) ?? {};
  const refused = files.filter((file) => !isSupported(file, supported)).map(({ data }) => data as URL);
  const urls = [...new Map(refused.map((url) => [url.href, url])).values()];
  return new Map(await Promise.all(urls.map(async (url) => [url.href, await downloaded(url, request)] as const)));
}

/** The file with what was downloaded in the place of its address; `undefined` where nothing was, though it had to be. */
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

/** How a specification writes a file's data: as it is, or since v4 with its kind. */
function wireData({ data }: FileData, version: AiSdkModel['specificationVersion']): unknown {
  if (version !== 'v4') return data;
  return data instanceof URL ? { type: 'url', url: data } : { type: 'data', data };
}

/** A file part of a prompt. */
export function filePart(file: FileData, version: AiSdkModel['specificationVersion']): WireObject {
  const { mediaType, filename } = file;
  return { type: 'file', data: wireData(file, version), mediaType, ...(filename !== undefined && { filename }) };
}

function filesIn(message: Message): readonly FileData[] {
  if (message.role === 'tool') return message.content.flatMap(({ content }) => filesOf(content));
  return message.role === 'user' ? filesOf(message.content) : [];
}

function filesOf(content: string | readonly ContentPart[]): readonly FileData[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => (part.type === 'text' ? [] : [fileOf(part)]));
}

/** As the AI SDK matches them: the address in lower case. */
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
