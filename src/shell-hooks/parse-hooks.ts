import type { HookContent, HookSource } from './hook-source.js';
import { parseForeignHooks } from './parse-foreign.js';
import { parseNativeHooks } from './parse-native.js';

/** Reads the `hooks` of a document, whatever program it was written for. What cannot be read is reported and left out. */
export function parseHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  return source.dialect === 'native' ? parseNativeHooks(document, source) : parseForeignHooks(document, source);
}
