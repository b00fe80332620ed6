import type { ManifestFormat } from '../extension.js';
import { claude } from './claude.js';
import type { Format } from './format.js';
import { gemini } from './gemini.js';
import { native } from './native.js';

/** Every manifest format. To add a format, add its file and a line here. */
export const FORMATS: readonly Format[] = [native, gemini, claude];

export function formatOf(id: ManifestFormat): Format {
  return FORMATS.find((format) => format.id === id) ?? native;
}
