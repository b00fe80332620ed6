import { resolve } from 'node:path';
import { readBytes } from '../../process/files/file-bytes.js';
import { homeFolder } from '../../process/files/home-folder.js';
import type { TrustedLaunch } from '../../trust/launch.js';

const MENTION = 'transcript_path';
const MOST_BYTES = 1024 * 1024;
const MOST_FILES = 200;

/**
 * Returns true if the command of a hook, or a file that the command names, contains `transcript_path`. Call it only for
 * an approved hook, because it reads the files.
 */
export async function mentionsTranscript(launch: TrustedLaunch): Promise<boolean> {
  const text = launch.args.join('\n');
  if (text.includes(MENTION)) return true;
  for (const path of filesOf(text, launch)) {
    const read = await readBytes(path, MOST_BYTES);
    if ('bytes' in read && read.bytes.includes(MENTION)) return true;
  }
  return false;
}

/** Matches one word of a command line with its quotes, and the `>` before it. */
const WORD = /(?<output>>\s*)?(?:"[^"]*"|'[^']*'|[^\s"'`;|&()<>])+/g;

/** Returns the paths that the words of a command may be, from the working directory and from each target of `cd`. */
function filesOf(text: string, { command, args, cwd, env }: TrustedLaunch): readonly string[] {
  const home = homeFolder();
  const variables = new Map(Object.entries(home === undefined ? env : { HOME: home, ...env }));
  const folders = [cwd];
  // With `-c`, the program is a shell.
  const paths = new Set(args[0] === '-c' ? [] : [command]);
  let before = '';
  for (const { 0: quoted, groups } of text.matchAll(WORD)) {
    // A file that the hook writes may contain its input, which has the field.
    if (groups?.output !== undefined) continue;
    const word = expanded(quoted.replaceAll(/["']/g, '').replace(/^~(?=\/)/, '$HOME'), variables);
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined) variables.set(name, value ?? '');
    const target = word.replace(/^[^=]*=/, '');
    for (const folder of folders) paths.add(resolve(folder, target));
    if (before === 'cd' || before === 'pushd') folders.push(resolve(folders.at(-1) ?? cwd, word));
    before = word;
  }
  return [...paths].slice(0, MOST_FILES);
}

/** Replaces `$NAME`, `${NAME}` and `${NAME:-default}`. Unknown variables without a default stay. */
function expanded(word: string, variables: ReadonlyMap<string, string>): string {
  const braced = /\$\{(\w+)(?::?-([^}]*))?\}/g;
  return word
    .replace(braced, (whole, name: string, other?: string) => variables.get(name) ?? other ?? whole)
    .replace(/\$(\w+)/g, (whole, name: string) => variables.get(name) ?? whole);
}
