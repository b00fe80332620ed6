import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';

/** The members of `process` that a program in this process gets, and timers that end with it. */
export interface ProgramHost extends EventEmitter {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly timers: Pick<typeof globalThis, 'setTimeout' | 'setInterval' | 'clearInterval'>;
  cwd(): string;
  exit(code?: number): void;
  kill(pid: number, signal: NodeJS.Signals): void;
}

/** Process ids of these programs are larger than those of the system. */
let lastPid = 10_000_000;
const running = new Set<number>();

/** Returns true for the process id of a program in this process that has not ended. */
export function runsInProcess(pid: number): boolean {
  return running.has(pid);
}

/** One call of `spawn`. */
export interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

/**
 * Runs `program` in this process behind the interface of a child process, because the start of a Node process takes 50 ms
 * of CPU time. The program ends when it calls `exit`, when a signal that it does not handle arrives, or when its input
 * has ended and no timer is pending.
 */
export function startInProcess(start: ProgramStart, program: Program): ChildProcess {
  return new InProcessChild(start, program) as unknown as ChildProcess;
}

type Program = (host: ProgramHost) => Promise<void> | void;

class InProcessChild extends EventEmitter {
  readonly pid: number;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly stdio = [this.stdin, this.stdout, this.stderr];
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly host: ProgramHost;
  private isWorking = true;

  constructor({ command, args, options }: ProgramStart, program: Program) {
    super();
    lastPid += 1;
    this.pid = lastPid;
    running.add(this.pid);
    const { pid, stdin, stdout, stderr } = this;
    this.host = Object.assign(new EventEmitter(), {
      ...{ pid, stdin, stdout, stderr },
      argv: [command, ...args],
      env: options.env ?? {},
      timers: this.ownTimers(),
      cwd: () => String(options.cwd ?? process.cwd()),
      exit: (code = 0) => this.end(code, null),
      kill: (_pid: number, signal: NodeJS.Signals) => void this.kill(signal),
    });
    stdin.once('end', () => this.endIfIdle());
    process.nextTick(() => {
      this.emit('spawn');
      void this.run(program);
    });
  }

  kill(signal: NodeJS.Signals): boolean {
    if (signal === 'SIGKILL' || !this.host.emit(signal)) this.end(null, signal);
    return true;
  }

  private async run(program: Program): Promise<void> {
    try {
      await program(this.host);
      this.isWorking = false;
      if (this.stdin.readableEnded) this.endIfIdle();
    } catch (error) {
      if (running.has(this.pid)) this.stderr.write(String(error));
      this.end(1, null);
    }
  }

  private ownTimers(): ProgramHost['timers'] {
    const keep = (timer: NodeJS.Timeout) => {
      this.timers.add(timer);
      return timer;
    };
    const drop = (timer: NodeJS.Timeout) => {
      clearTimeout(timer);
      this.timers.delete(timer);
      if (this.stdin.readableEnded) this.endIfIdle();
    };
    const later = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const timer = setTimeout(() => {
        callback(...args);
        drop(timer);
      }, ms);
      return keep(timer);
    };
    return {
      setTimeout: later as unknown as typeof setTimeout,
      setInterval: ((callback: () => void, ms: number) => keep(setInterval(callback, ms))) as typeof setInterval,
      clearInterval: drop as typeof clearInterval,
    };
  }

  /** A process ends by itself when its input has ended and nothing is left to do. */
  private endIfIdle(): void {
    setImmediate(() => {
      if (!this.isWorking && this.timers.size === 0) this.end(0, null);
    });
  }

  private end(exitCode: number | null, signal: NodeJS.Signals | null): void {
    if (!running.delete(this.pid)) return;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.stdin.destroy();
    const closed = [this.stdout, this.stderr].map((stream) => {
      const end = stream.destroyed ? undefined : once(stream, 'close');
      stream.end();
      return end;
    });
    setImmediate(() => this.emit('exit', exitCode, signal));
    void Promise.all(closed).then(() => setImmediate(() => this.emit('close', exitCode, signal)));
  }
}
