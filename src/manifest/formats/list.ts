import type { ManifestFormat } from '../extension.js';
import { claude } from './claude.js';
import type { Format } from './format.js';
import { gemini } from './gemini.js';
import { native } from './native.js';

/** Every format, in the order in which a folder is looked at. A new one is a file of its own and a line here. */
export const FORMATS: readonly Format[] = [native, gemini, claude];

/** The format of this id. */
export function formatOf(id: ManifestFormat): Format {
  return FORMATS.find((format) => format.id === id) ?? native;
}
