import { defineTool, type Tool } from 'keelson';
import { z } from 'zod';
import type { Folder } from './folder.js';

const MAX_CHARACTERS = 20_000;
const MAX_SHOWN = 20;

const readOnly = { annotations: { readOnly: true }, timeoutMs: 5_000 } as const;

/** The three tools that a folder can be explored with. What they throw becomes an error that the model reads. */
export function folderTools(folder: Folder): readonly Tool[] {
  const list = defineTool({
    name: 'list_files',
    description: 'Lists a folder. Names of folders end in "/".',
    input: z.object({ path: z.string().default('.').describe('Relative to the folder, such as "docs".') }),
    ...readOnly,
    execute: async ({ path }) => ({ path, entries: await folder.list(path) }),
  });
  const read = defineTool({
    name: 'read_file',
    description: `Reads a text file, its first ${MAX_CHARACTERS} characters.`,
    input: z.object({ path: z.string().describe('Relative to the folder, such as "README.md".') }),
    ...readOnly,
    execute: async ({ path }) => (await folder.read(path)).slice(0, MAX_CHARACTERS),
  });
  const search = defineTool({
    name: 'search_files',
    description: 'Finds the lines that hold a word, in all files. Upper and lower case differ.',
    input: z.object({ text: z.string().min(1) }),
    ...readOnly,
    async execute({ text }, context) {
      context.progress(`looking for "${text}"`);
      const hits = await folder.search(text);
      const files = [...new Set(hits.map(({ file }) => file))];
      return { lines: hits.length, files: files.length, names: files.slice(0, MAX_SHOWN), first: hits.slice(0, 5) };
    },
  });
  return [list, read, search];
}
