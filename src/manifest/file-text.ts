import { readBytes } from '../process/file-bytes.js';

/** Reads a file of text in UTF-8. */
export async function readText(path: string, max: number): Promise<{ text: string } | { problem: string }> {
  const read = await readBytes(path, max);
  if ('problem' in read) return { problem: read.problem };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) };
  } catch {
    return { problem: 'it is no text in UTF-8' };
  }
}
