import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../fixtures/stores/store-process.ts', import.meta.url));

/** A process that works on a folder, and what it has said so far. */
export interface StoreProcess<Line> {
  readonly child: ChildProcess;
  readonly lines: readonly Line[];
  /** Resolves when it has said so many lines, or nothing more. */
  said(count: number): Promise<void>;
  /** Its exit code, or the signal that ended it, once all that it said was read. */
  readonly ended: Promise<number | string | null>;
}

export function startStoreProcess<Line>(order: {
  readonly folder: string;
  readonly task: string;
  readonly name: string;
  readonly count: number;
  /** The most that a file of this process may hold, in kB: beyond it the system refuses, as a full disk does. */
  readonly limitKb?: number;
}): StoreProcess<Line> {
  const command = [process.execPath, '--import', 'tsx', program, JSON.stringify(order)];
  const [file = '', ...rest] =
    order.limitKb === undefined ? command : ['bash', '-c', `ulimit -f ${order.limitKb}; exec "$0" "$@"`, ...command];
  const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: Line[] = [];
  const waiting: (() => void)[] = [];
  const reader = createInterface({ input: child.stdout });
  const wake = () => {
    for (const resume of waiting.splice(0)) resume();
  };
  reader.on('line', (line) => {
    const said = JSON.parse(line);
    if (said?.started === undefined) lines.push(said);
    wake();
  });
  const closed = Promise.all([once(reader, 'close'), once(child, 'exit')]);
  const ended = closed.then(([, [code, signal]]) => {
    wake();
    return code ?? signal;
  });
  return {
    child,
    lines,
    ended,
    async said(count) {
      while (lines.length < count && child.exitCode === null && child.signalCode === null) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
