import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type Clock, systemClock } from '../internal/clock.js';
import { createDeferred } from '../internal/promise.js';
import { killAtHostExit } from './host-exit.js';
import { killTree } from './kill-tree.js';
import { bytesOf, OutputTail } from './output.js';
import { explainStart, type SpawnFailure, type SpawnTarget } from './spawn-failure.js';

/** As `spawn` of node:child_process. What comes of another class is ended by its `kill`, which stands for all it started. */
export type Spawn = (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** What a group is started with. Its environment is exactly `env`: nothing is inherited. */
export interface GroupOptions extends SpawnTarget {
  /** What the program is told that it was called as; default: `command`. */
  readonly argv0?: string | undefined;
  readonly stderrBytes?: number | undefined;
  /** Called with each chunk of the standard error, as it is read. */
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
  readonly spawn?: Spawn | undefined;
  readonly clock?: Clock | undefined;
}

/** How a group ended. */
export interface GroupEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly failure: SpawnFailure | undefined;
  /** Whether a process that had left the group still held the output: it was let go, and may live on. */
  readonly detachedChild: boolean;
}

/** Between SIGTERM and SIGKILL. */
export const GRACE_MS = 2_000;
/** How long what is left of a group may keep the output open after its leader's exit. */
const DRAIN_MS = 500;
/** How long the end may take after SIGKILL. */
const FORCE_MS = 300;
const STDERR_BYTES = 65_536;

/**
 * A child process and all that it starts, as one process group, which ends with its leader: what is left of it is
 * killed then. Only what opened a session or a group of its own (`setsid`, `set -m` of a shell) gets away.
 */
export class ProcessGroup {
  readonly stderr: OutputTail;
  /** Whether it was told to end because this process was. */
  toldByHost = false;
  /** Resolves once, whatever happens: at the latest so long after `terminate` as its grace and a moment. */
  readonly ended: Promise<GroupEnd>;
  private readonly clock: Clock;
  private readonly timers: unknown[] = [];
  private readonly resolve: (end: GroupEnd) => void;
  private readonly release: () => void;
  private exit: Pick<GroupEnd, 'exitCode' | 'signal'> | undefined = undefined;
  private state: 'running' | 'ending' | 'over' = 'running';

  private constructor(
    readonly child: ChildProcess,
    private readonly options: GroupOptions,
  ) {
    const { promise, resolve } = createDeferred<GroupEnd>();
    this.ended = promise;
    this.resolve = resolve;
    this.clock = options.clock ?? systemClock;
    this.stderr = new OutputTail(options.stderrBytes ?? STDERR_BYTES);
    this.release = killAtHostExit((signal) => {
      this.toldByHost = true;
      this.kill(signal);
    });
    this.listen();
  }

  /** Starts the group. A failure that shows only later is in `ended`. */
  static start(options: GroupOptions): ProcessGroup | SpawnFailure {
    const { command, args = [], cwd, env, argv0 } = options;
    try {
      const child = (options.spawn ?? spawn)(command, [...args], {
        ...(cwd !== undefined && { cwd }),
        ...(argv0 !== undefined && { argv0 }),
        // Node may add to it.
        env: { ...env },
        detached: process.platform !== 'win32',
        stdio: 'pipe',
        windowsHide: true,
      });
      return new ProcessGroup(child, options);
    } catch (error) {
      return explainStart(error, options);
    }
  }

  /** Whether the leader has exited. */
  get exited(): boolean {
    return this.exit !== undefined;
  }

  /** SIGTERM to the group, SIGKILL after the grace, then the pipes are destroyed. A second call changes nothing. */
  terminate(graceMs: number = GRACE_MS): Promise<GroupEnd> {
    if (this.state === 'running') {
      this.state = 'ending';
      this.kill('SIGTERM');
      this.killAfter(graceMs);
    }
    return this.ended;
  }

  private listen(): void {
    const { child } = this;
    // One that ends without reading its input breaks the pipe.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    child.stderr?.on('data', (chunk: Buffer | string) => {
      const bytes = bytesOf(chunk);
      this.stderr.push(bytes);
      this.options.onStderr?.(bytes);
    });
    child.on('error', (error) => {
      if (child.pid === undefined) this.settle(explainStart(error, this.options));
    });
    child.on('exit', (exitCode, signal) => {
      this.exit = { exitCode, signal };
      // Most often all has been read by then.
      if (child.stdout?.closed && child.stderr?.closed) this.settle();
      else this.killAfter(DRAIN_MS);
    });
    child.on('close', (exitCode, signal) => {
      // What an injected `spawn` gives may say only this.
      this.exit ??= { exitCode, signal };
      this.settle();
    });
  }

  private kill(signal: NodeJS.Signals): void {
    const { child } = this;
    // The pid of what an injected `spawn` made up may be anybody's.
    if (!(child instanceof ChildProcess)) this.exited || (child as Partial<ChildProcess>).kill?.(signal);
    else if (child.pid !== undefined) killTree(child.pid, signal);
  }

  private killAfter(ms: number): void {
    this.after(ms, () => {
      this.kill('SIGKILL');
      this.after(FORCE_MS, () => this.settle());
    });
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

/** Whether a pipe is open although there is nothing left to read: somebody else has its other end. */
function isHeld(pipe: Readable | null | undefined): boolean {
  return pipe?.destroyed === false && pipe.readableLength === 0;
}
