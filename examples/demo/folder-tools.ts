import { defineTool, type Tool } from 'keelson';
import { z } from 'zod';
import type { Folder } from './folder.js';

const MAX_CHARACTERS = 20_000;
const MAX_SHOWN = 20;

const readOnly = { annotations: { readOnly: true }, timeoutMs: 30_000 } as const;

/** Returns three tools for exploring a folder. An error that a tool throws becomes an error result for the model. */
export function folderTools(folder: Folder): readonly Tool[] {
  const list = defineTool({
    name: 'list_files',
    description: 'Lists a folder. The names of folders end in "/".',
    input: z.object({ path: z.string().default('.').describe('Relative to the folder, such as "docs".') }),
    ...readOnly,
    execute: async ({ path }) => ({ path, entries: await folder.list(path) }),
  });
  const read = defineTool({
    name: 'read_file',
    description: `Reads the first ${MAX_CHARACTERS} characters of a text file.`,
    input: z.object({ path: z.string().describe('Relative to the folder, such as "README.md".') }),
    ...readOnly,
    execute: async ({ path }) => (await folder.read(path)).slice(0, MAX_CHARACTERS),
  });
  const search = defineTool({
    name: 'search_files',
    description: 'Finds the lines that contain a word, in all files. The search is case-sensitive.',
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
