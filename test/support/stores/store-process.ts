import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../fixtures/stores/store-process.ts', import.meta.url));

/** A child process that uses a store, with the lines that it has printed. */
export interface StoreProcess<Line> {
  readonly child: ChildProcess;
  readonly lines: readonly Line[];
  /** Resolves when the process has printed `count` lines or has ended. */
  said(count: number): Promise<void>;
  /** Resolves to the exit code or the signal, after all lines were read. */
  readonly ended: Promise<number | string | null>;
}

export function startStoreProcess<Line>(order: {
  readonly folder: string;
  readonly task: string;
  readonly name: string;
  readonly count: number;
  /** Maximum size in kB of a file that the process writes. A larger write fails, as on a full disk. */
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
    const printed = JSON.parse(line);
    if (printed?.started === undefined) lines.push(printed);
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
