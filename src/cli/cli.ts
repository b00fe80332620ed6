#!/usr/bin/env node
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../errors.js';
import { safeText } from '../internal/safe-text.js';
import { explain, readTrace } from '../trace/trace.js';

const USAGE = `Usage: keelson explain <file or folder>

Says what went wrong in a run that \`trace()\` has written, and which part caused it. Of a folder, the newest trace is read.
`;

/** Runs a command. Returns the exit code: 2 for unknown arguments, 1 for a trace that cannot be read. */
async function main([command, path, ...rest]: readonly string[]): Promise<number> {
  if (command !== 'explain' || path === undefined || rest.length > 0) {
    const asked = command === '--help' || command === 'help';
    (asked ? process.stdout : process.stderr).write(USAGE);
    return asked ? 0 : 2;
  }
  try {
    const file = await traceIn(path);
    if (file === undefined) {
      process.stderr.write(`The folder "${safeText(path)}" contains no trace. Pass the folder of \`trace()\`.\n`);
      return 1;
    }
    const findings = explain(readTrace(await readFile(file, 'utf8')));
    const lines = findings.map(({ kind, text }) => `${kind}: ${safeText(text)}`);
    process.stdout.write(`${lines.length > 0 ? lines.join('\n') : 'Nothing stands out in this run.'}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${safeText(describeError(error))}\n`);
    return 1;
  }
}

/** Returns a file as it is. Of a folder, returns the newest trace; the names begin with the time. */
async function traceIn(path: string): Promise<string | undefined> {
  if (!(await stat(path)).isDirectory()) return path;
  const traces = (await readdir(path)).filter((name) => name.endsWith('.trace.jsonl')).sort();
  const newest = traces.at(-1);
  return newest && join(path, newest);
}

process.exitCode = await main(process.argv.slice(2));
