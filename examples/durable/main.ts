// `npm run demo:durable`: an agent in Restate whose process dies in the middle of a tool call, and whose work goes on.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../host/free-port.js';
import { post, type RestateServer, startRestateServer } from './restate-server.js';

const PROGRAM = fileURLToPath(new URL('service.ts', import.meta.url));

const style = (code: number, text: string) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = (text: string) => style(1, text);
const red = (text: string) => style(31, text);
const green = (text: string) => style(32, text);
const dim = (text: string) => style(2, text);

/** The service as a child process. The demo starts another one when it dies. */
class Service {
  private child: ChildProcess | undefined = undefined;
  private isStopped = false;

  constructor(
    private readonly port: number,
    private readonly marker: string,
    private readonly onAsk: (request: { readonly id: string; readonly pending: readonly { id: string }[] }) => void,
  ) {}

  /** Starts a process. Resolves when the process listens. */
  start(): Promise<void> {
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, `${this.port}`, this.marker], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    child.once('exit', (_code, signal) => {
      if (this.isStopped) return;
      console.log(red(`  process ${child.pid} died of ${signal}`));
      void this.start();
    });
    return new Promise((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line === 'ready') {
          console.log(bold(`  process ${child.pid} listens`));
          resolve();
        } else if (line.startsWith('ask ')) this.onAsk(JSON.parse(line.slice(4)));
        else console.log(`    ${dim(`${child.pid}`)} ${line}`);
      });
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.child?.kill('SIGKILL');
    if (this.child !== undefined) await once(this.child, 'exit');
  }
}

async function show(server: RestateServer, folder: string): Promise<void> {
  const port = await freePort();
  const service = new Service(port, join(folder, 'killed'), ({ id, pending }) => {
    console.log(`  Restate waits for an approval of ${pending.length} call. No process has to run meanwhile.`);
    const decisions = Object.fromEntries(pending.map((call) => [call.id, 'approve']));
    setTimeout(() => {
      console.log(green('  approved from this process'));
      void post(`${server.ingress}/restate/awakeables/${id}/resolve`, decisions);
    }, 300);
  });
  await service.start();
  await server.register(`http://127.0.0.1:${port}`);
  const question = 'Which harbour is the cheapest? Pay its fee.';
  console.log(`\n${bold('You')}    ${question}`);
  const answer = await post<string>(`${server.ingress}/harbour/ask`, question);
  console.log(`${bold('Agent')}  ${answer}\n`);
  console.log('Each line above ran once, except for the call in which the process died.');
  await service.stop();
}

const server = await startRestateServer();
if (server === undefined) console.log('Skipped: @restatedev/restate-server has no program for this platform.');
else {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  await show(server, folder).finally(() => server.stop());
  rmSync(folder, { recursive: true, force: true });
}
