/** What is told as text. */
export const TEXT_TYPE = /^text\/|^application\/(?:.+\+)?(?:x-)?(?:json|xml|yaml)(?:;|$)/;

/** How a data URL begins; whether its body is base64. */
export const DATA_URL = /^data:[^,]*?(;base64)?,/i;

interface NamedFile {
  readonly mediaType: string;
  readonly filename?: string | undefined;
}

/** What a model is told of a file that it cannot be given. */
export function fileNote({ mediaType, filename }: NamedFile, problem = 'cannot be shown here'): string {
  const name = filename === undefined ? '' : ` "${filename}"`;
  return `(A file${name} of type ${mediaType} ${problem}.)`;
}

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** The text that a data URL bears; `undefined` where it bears none. */
export function decoded(body: string, isBase64: string | undefined): string | undefined {
  try {
    if (!isBase64) return decodeURIComponent(body);
    const binary = atob(body);
    const bytes = new Uint8Array(binary.length);
    // `Uint8Array.from` takes thirty times as long, at each turn.
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
