// Tools for an agent that works on files, with the names and arguments of Claude Code.
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { defineTool, type Tool } from 'keelson';
import { z } from 'zod';

const filePath = z.string().describe('Path of the file');

/** Returns the tools `Bash`, `Read`, `Write` and `Edit`. All except `Bash` reach only files of the workspace. */
export function codingTools(workspaceDir: string): readonly Tool[] {
  const inWorkspace = (path: string) => {
    const full = resolve(workspaceDir, path);
    if (!full.startsWith(workspaceDir + sep)) throw new RangeError(`${path} is outside of the workspace`);
    return full;
  };
  return [
    defineTool({
      name: 'Bash',
      description: 'Runs a command line with bash and returns its output.',
      input: z.object({ command: z.string() }),
      timeoutMs: 60_000,
      execute: ({ command }, { signal }) => runBash(command, workspaceDir, signal),
    }),
    defineTool({
      name: 'Read',
      description: 'Returns the content of a text file.',
      input: z.object({ file_path: filePath }),
      annotations: { readOnly: true },
      execute: ({ file_path: path }) => readFile(inWorkspace(path), 'utf8'),
    }),
    defineTool({
      name: 'Write',
      description: 'Writes a text file.',
      input: z.object({ file_path: filePath, content: z.string() }),
      async execute({ file_path: path, content }) {
        await mkdir(dirname(inWorkspace(path)), { recursive: true });
        await writeFile(inWorkspace(path), content);
        return `wrote ${path}`;
      },
    }),
    defineTool({
      name: 'Edit',
      description: 'Replaces a string that occurs exactly once in a file.',
      input: z.object({ file_path: filePath, old_string: z.string().min(1), new_string: z.string() }),
      async execute({ file_path: path, old_string: before, new_string: after }) {
        const parts = (await readFile(inWorkspace(path), 'utf8')).split(before);
        if (parts.length !== 2) throw new RangeError(`old_string occurs ${parts.length - 1} times in ${path}`);
        await writeFile(inWorkspace(path), parts.join(after));
        return `edited ${path}`;
      },
    }),
  ];
}

function runBash(command: string, cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((done, fail) => {
    let output = '';
    const child = spawn('bash', ['-c', command], { cwd, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', fail);
    child.on('close', (code) => done(`${output}exit code ${code}`));
  });
}
