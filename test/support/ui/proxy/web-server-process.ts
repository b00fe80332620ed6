import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../fixtures/ui/web-server.ts', import.meta.url));

/** A web server in a process of its own. */
export interface WebServerProcess {
  readonly address: string;
  /** The lines that it has printed after its address. */
  readonly lines: readonly string[];
  /** Kills the process, as a crash does. */
  kill(): Promise<void>;
}

/** Starts a web server that keeps its conversations in a Redis. */
export async function startWebServer(redis: string): Promise<WebServerProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, redis], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const [address] = await once(reader, 'line');
  reader.on('line', (line) => lines.push(line));
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { address, lines, kill };
}
