import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { safeText } from '../internal/safe-text.js';
import { DRAFT, writeAtomic } from '../process/files/write-atomic.js';
import { readTrace } from '../trace/trace.js';
import type { Command } from './command.js';
import { pageOf } from './page/page.js';
import { serveFolder } from './page/serve-folder.js';
import { readTraceFile } from './trace-file.js';

/** `keelson trace [file or folder]` writes an HTML page of a trace, or serves a page with the traces of a folder. */
export const traceCommand: Command = {
  usage: 'trace [file or folder]',
  summary:
    'Makes an HTML file that shows a run that `trace()` has written. Of a folder, serves a page on 127.0.0.1 that follows its runs. Default: traces',
  async run([path = 'traces', ...rest]) {
    if (rest.length > 0) return 'usage';
    if ((await stat(path)).isDirectory()) {
      const { url } = await serveFolder(path);
      process.stdout.write(`Open ${url}\nThe page follows "${safeText(path)}". Stop with Ctrl+C.\n`);
      await new Promise(() => {});
    }
    const lines = await readTraceFile(path);
    readTrace(lines);
    const { html } = await pageOf(lines);
    const target = `${path.replace(/(\.trace)?\.jsonl$/, '')}.html`;
    await writeAtomic(target, html, { draft: `${target}.${randomUUID()}${DRAFT}` });
    process.stdout.write(`${safeText(target)}\n`);
    return 0;
  },
};
