import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { safeText } from '../internal/safe-text.js';
import { TRACE_ENDING } from '../trace/destination.js';
import { explain, readTrace } from '../trace/trace.js';
import type { Command } from './command.js';
import { readTraceFile } from './trace-file.js';

/** `keelson explain <file or folder>` prints the findings of `explain()`, one per line. */
export const explainCommand: Command = {
  usage: 'explain <file or folder>',
  summary:
    'Says what went wrong in a run that `trace()` has written, and which part caused it. Of a folder, the newest trace is read.',
  async run([path, ...rest]) {
    if (path === undefined || rest.length > 0) return 'usage';
    const file = await traceIn(path);
    if (file === undefined) {
      process.stderr.write(`The folder "${safeText(path)}" contains no trace. Pass the folder of \`trace()\`.\n`);
      return 1;
    }
    const findings = explain(readTrace(await readTraceFile(file)));
    const lines = findings.map(({ kind, text }) => `${kind}: ${safeText(text)}`);
    process.stdout.write(`${lines.length > 0 ? lines.join('\n') : 'Nothing stands out in this run.'}\n`);
    return 0;
  },
};

/**
 * Returns the path of a trace: a file as it is, or the newest trace of a folder. The names of traces begin with the
 * time.
 */
async function traceIn(path: string): Promise<string | undefined> {
  if (!(await stat(path)).isDirectory()) return path;
  const traces = (await readdir(path)).filter((name) => name.endsWith(TRACE_ENDING)).sort();
  const newest = traces.at(-1);
  return newest && join(path, newest);
}
