import { type ReadManifest, readNativeManifest } from './native-manifest.js';
import { parseJsonObject } from './strict-json.js';

/**
 * Reads the text of a `manifest.json` as an extension's would be read, for a check before it is published: its content,
 * or all that is wrong with it. Never throws. Files that it names are not looked at.
 */
export function parseManifest(text: string): ReadManifest {
  const json = parseJsonObject(new TextEncoder().encode(text));
  return 'problems' in json ? json : readNativeManifest(json);
}
