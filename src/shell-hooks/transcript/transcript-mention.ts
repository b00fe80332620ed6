import { isAbsolute, resolve } from 'node:path';
import { readBytes } from '../../process/files/file-bytes.js';
import type { TrustedLaunch } from '../../trust/launch.js';

const MENTION = 'transcript_path';
const MOST_BYTES = 1024 * 1024;
const MOST_WORDS = 100;

/**
 * Returns true if the command of a hook, or a script that the command names, contains `transcript_path`. Call it only
 * for an approved hook, because it reads the scripts.
 */
export async function mentionsTranscript({ args, cwd, env }: TrustedLaunch): Promise<boolean> {
  const text = args.join('\n');
  if (text.includes(MENTION)) return true;
  const expanded = text.replace(/\$\{?(\w+)\}?/g, (whole, name: string) => env[name] ?? whole);
  const words = expanded.split(/[\s"'`;|&()<>]+/).filter((word) => word.includes('.') || word.includes('/'));
  for (const word of new Set(words.slice(0, MOST_WORDS))) {
    const read = await readBytes(isAbsolute(word) ? word : resolve(cwd, word), MOST_BYTES);
    if ('bytes' in read && read.bytes.includes(MENTION)) return true;
  }
  return false;
}
