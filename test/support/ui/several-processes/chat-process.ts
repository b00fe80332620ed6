import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ChatProcessOrder } from '../../../fixtures/ui/chat-process.js';
import { until } from '../../agent/settle.js';

/** The program of a process that serves chats, to be bundled. */
export const chatProgram: string = fileURLToPath(new URL('../../../fixtures/ui/chat-process.ts', import.meta.url));

/** A process that serves chats. */
export interface ChatProcess {
  readonly url: string;
  /** Resolves when the process has printed a line `count` times. */
  said(line: 'paused' | 'waiting' | 'aborted', count?: number): Promise<void>;
  /** Ends a pause. */
  goOn(): void;
  /** Ends the process as a crash does. */
  kill(): Promise<void>;
}

/** Starts a process that serves chats. `program` is the path of the bundled program. */
export async function startChatProcess(program: string, order: ChatProcessOrder): Promise<ChatProcess> {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] });
  // A process that was killed reads no more lines.
  child.stdin.on('error', () => {});
  const ended = once(child, 'exit');
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await until(() => lines.length > 0 || child.exitCode !== null);
  return {
    url: lines[0] ?? expect.fail('The process has ended.'),
    said: (line, count = 1) => until(() => lines.filter((it) => it === line).length >= count),
    goOn: () => void child.stdin.write('\n'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
