import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from '../internal/clock.js';
import { createDeferred } from '../internal/promise.js';
import { CapturedOutput } from './captured-output.js';
import { isOwnGroup, killAtHostExit, killTree } from './host-exit.js';
import { explainSpawnError, findSpawnFailure, type SpawnFailure, type SpawnTarget } from './spawn-failure.js';

/**
 * The signature of `spawn` in node:child_process.
 * If it returns an object that is not a `ChildProcess`, its `kill` method is called and must end every process it
 * started.
 */
export type Spawn = (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** Options of a process group. The environment is exactly `env`: nothing is inherited. */
export interface GroupOptions extends SpawnTarget {
  /** The program's own name as it sees it (`argv[0]`). Default: `command`. */
  readonly argv0?: string | undefined;
  readonly stderrBytes?: number | undefined;
  /** Called with each chunk of the standard error, as it is read. */
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
  readonly spawn?: Spawn | undefined;
  readonly clock?: Clock | undefined;
}

/** The result of a process group that has ended. */
export interface GroupEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly failure: SpawnFailure | undefined;
  /** True if a process outside the group still held the output open. That process was not killed. */
  readonly detachedChild: boolean;
}

/** Time between SIGTERM and SIGKILL. */
export const GRACE_MS = 2_000;
/** Time for the other processes of a group to end by themselves after the first process has exited. */
const DRAIN_MS = 200;
/** Time for the processes of a group to disappear after SIGKILL. */
const FORCE_MS = 300;
/** Time between two checks of a group whose first process has exited. */
const LOOK_MS = 5;
const STDERR_BYTES = 65_536;

/**
 * A child process and every process it starts, as one process group. When the child process exits, the others in the
 * group are killed.
 *
 * A process that creates its own session or group (`setsid`, `set -m` in a shell) is not killed.
 *
 * See docs/decisions/0020-group-ends-with-its-leader.md.
 */
export class ProcessGroup {
  readonly stderr: CapturedOutput;
  /** True if the group got a signal because this process is ending. */
  stoppedByHost = false;
  /** Resolves once and never rejects. After `terminate` it resolves within the grace time plus 300 milliseconds. */
  readonly ended: Promise<GroupEnd>;
  private readonly clock: Clock;
  private readonly timers: unknown[] = [];
  private readonly resolve: (end: GroupEnd) => void;
  private readonly release: () => void;
  private exit: Pick<GroupEnd, 'exitCode' | 'signal'> | undefined = undefined;
  private state: 'running' | 'ending' | 'over' = 'running';
  /** True once all processes of the group have ended. It stays true, because no process can join an empty group. */
  private isEmpty = false;

  private constructor(
    readonly child: ChildProcess,
    private readonly options: GroupOptions,
  ) {
    const { promise, resolve } = createDeferred<GroupEnd>();
    this.ended = promise;
    this.resolve = resolve;
    this.clock = options.clock ?? systemClock;
    this.stderr = new CapturedOutput(options.stderrBytes ?? STDERR_BYTES, 'last');
    this.release = killAtHostExit((signal) => {
      this.stoppedByHost = true;
      this.kill(signal);
    });
    this.listen();
  }

  /** Starts the process. A failure that the system reports later is in the result of `ended`. */
  static start(options: GroupOptions): ProcessGroup | SpawnFailure {
    const { command, args = [], cwd, env, argv0 } = options;
    // An injected `spawn` may start the program on another machine, which has other directories. So `cwd` is checked
    // only after such a start has failed, to explain the failure.
    const failure = findSpawnFailure(options.spawn === undefined ? options : { ...options, cwd: undefined });
    if (failure !== undefined) return failure;
    try {
      const child = (options.spawn ?? spawn)(command, [...args], {
        cwd,
        argv0,
        // Copied, because Node may add variables to the object.
        env: { ...env },
        detached: process.platform !== 'win32',
        stdio: 'pipe',
        windowsHide: true,
      });
      return new ProcessGroup(child, options);
    } catch (error) {
      return explainSpawnError(error, command);
    }
  }

  /** True if the first process of the group has exited. */
  get exited(): boolean {
    return this.exit !== undefined;
  }

  /** Sends SIGTERM to the group, sends SIGKILL after `graceMs`, then destroys the pipes. Later calls have no effect. */
  terminate(graceMs: number = GRACE_MS): Promise<GroupEnd> {
    if (this.state === 'running') {
      this.state = 'ending';
      this.kill('SIGTERM');
      this.killAfter(graceMs);
    }
    return this.ended;
  }

  private listen(): void {
    const { child, options } = this;
    // A program that exits without reading its input makes writes fail with EPIPE.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    child.stderr?.on('data', (chunk: Buffer | string) => {
      const bytes = bytesOf(chunk);
      this.stderr.push(bytes);
      options.onStderr?.(bytes);
    });
    child.on('error', (error) => {
      if (child.pid === undefined) this.settle(findSpawnFailure(options) ?? explainSpawnError(error, options.command));
    });
    child.on('exit', (exitCode, signal) => {
      this.exit = { exitCode, signal };
      // The pipes are usually closed by now.
      if (child.stdout?.closed && child.stderr?.closed) this.settle();
      else {
        this.killAfter(DRAIN_MS);
        this.settleWhenRead();
      }
    });
    child.on('close', (exitCode, signal) => {
      // An object from an injected `spawn` may emit only `close`.
      this.exit ??= { exitCode, signal };
      this.settle();
    });
  }

  private kill(signal: NodeJS.Signals): void {
    const { child } = this;
    // The pid of an object from an injected `spawn` may belong to an unrelated process.
    if (!(child instanceof ChildProcess)) this.exited || (child as Partial<ChildProcess>).kill?.(signal);
    else if (child.pid !== undefined && !this.isEmpty && (!this.exited || isOwnGroup(child.pid)))
      killTree(child.pid, signal);
  }

  private killAfter(ms: number): void {
    this.after(ms, () => {
      this.kill('SIGKILL');
      this.after(FORCE_MS, () => this.settle());
    });
  }

  /**
   * Resolves `ended` when no process of the group is left and their output is read. Does not wait for the pipes to
   * close, because a process outside the group may hold them open for much longer.
   */
  private settleWhenRead(): void {
    const { child } = this;
    if (!(child instanceof ChildProcess) || child.pid === undefined || process.platform === 'win32') return;
    this.isEmpty = !isOwnGroup(child.pid);
    const before = bytesRead(child);
    // The event loop reads the pipes between two immediates. On a busy machine, it may not read them between two timers.
    setImmediate(() =>
      setImmediate(() => {
        const isQuiet = bytesRead(child) === before && [child.stdout, child.stderr].every(isRead);
        if (this.isEmpty && isQuiet) this.settle();
        else this.after(LOOK_MS, () => this.settleWhenRead());
      }),
    );
  }

  private after(ms: number, callback: () => void): void {
    if (this.state !== 'over') this.timers.push(this.clock.setTimeout(callback, ms));
  }

  private settle(failure?: SpawnFailure): void {
    if (this.state === 'over') return;
    this.state = 'over';
    for (const timer of this.timers.splice(0)) this.clock.clearTimeout(timer);
    this.kill('SIGKILL');
    this.release();
    const held = [this.child.stdout, this.child.stderr].some(isHeld);
    for (const stream of this.child.stdio ?? []) stream?.destroy();
    (this.child as Partial<ChildProcess>).unref?.();
    const { exitCode, signal } = this.exit ?? { exitCode: null, signal: null };
    this.resolve({ exitCode, signal, failure, detachedChild: held && this.exited });
  }
}

function bytesRead({ stdout, stderr }: ChildProcess): number {
  return [stdout, stderr].reduce((sum, pipe) => sum + ((pipe as Partial<Socket> | null)?.bytesRead ?? 0), 0);
}

/** True if all bytes that arrived at the pipe were passed on. False if nobody reads the pipe. */
function isRead(pipe: Readable | null): boolean {
  return pipe === null || pipe.destroyed || (pipe.readableFlowing === true && pipe.readableLength === 0);
}

/** True if the pipe is open and empty: another process still holds its write end. */
function isHeld(pipe: Readable | null | undefined): boolean {
  return pipe?.destroyed === false && pipe.readableLength === 0;
}

/** Returns a chunk of output as bytes. Streams of an injected `spawn` may emit strings. */
export function bytesOf(chunk: Buffer | string): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
