import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { pause } from '../agent/settle.js';
import type { StoreKind } from './open-store.js';
import { type Random, seeded } from './random-agent.js';
import { CLAIM_MS, PROCESSES, TURNS, type TurnLine, type TurnOrder } from './turn-plan.js';

/** A store that processes share, and what happens to it meanwhile. */
export interface SharedStore {
  readonly kind: StoreKind;
  readonly place: string;
  readonly seed: number;
  /** The bundled program of a process. */
  readonly program: string;
  /** Each takes the server away and brings it back. They are spread over the turns. */
  readonly outages: readonly (() => Promise<void>)[];
}

/** SQLite is experimental in Node 22. */
const QUIET = '--disable-warning=ExperimentalWarning';
/** A share of the processes is not killed, but suspended, so that another one takes over what it holds. */
const PAUSED_SHARE = 0.1;
/** The number of lines between two kills is random, and this large at most. */
const MOST_LINES = 50;
/** A kill follows a line after a random time, so that it also hits the middle of a write. */
const MOST_DELAY_MS = 15;

/** Processes that take turns. One of them is killed again and again, and started again. */
export class TurnTakers {
  readonly lines: TurnLine[] = [];
  kills = 0;
  pauses = 0;
  private readonly random: Random;
  private readonly living = new Set<ChildProcess>();
  private linesLeft = MOST_LINES;
  private readonly outagesAt: number[];
  private acknowledged = 0;
  private outage = Promise.resolve();
  private isOver = false;

  constructor(private readonly shared: SharedStore) {
    const { seed, outages } = shared;
    this.random = seeded(seed);
    const each = (PROCESSES * TURNS) / outages.length;
    this.outagesAt = outages.map((_, at) => (at + 0.1 + 0.8 * this.random()) * each);
  }

  /** Resolves when each process has taken all its turns. */
  async takeAll(): Promise<void> {
    try {
      await Promise.all(Array.from({ length: PROCESSES }, (_, number) => this.keepTaking(number)));
    } finally {
      this.isOver = true;
      for (const child of this.living) child.kill('SIGKILL');
      await this.outage;
    }
  }

  /** Starts a process again until it has taken all its turns. */
  private async keepTaking(number: number): Promise<void> {
    const { kind, place, seed, program } = this.shared;
    for (let from = 0, life = 0; from < TURNS && !this.isOver; life += 1) {
      const order: TurnOrder = { kind, place, seed, process: number, from, life };
      const child = spawn(process.execPath, [QUIET, program, JSON.stringify(order)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      this.living.add(child);
      for await (const text of createInterface({ input: child.stdout })) {
        const line = lineOf(text);
        if (line?.type === 'ack') from += 1;
        if (line !== undefined) this.take(line, child);
      }
      const [code, signal] = await ended;
      this.living.delete(child);
      expect([code, signal]).toEqual(signal === null && from === TURNS ? [0, null] : [null, 'SIGKILL']);
    }
  }

  /** Keeps a line, and counts down to the next kill and the next outage. */
  private take(line: TurnLine, child: ChildProcess): void {
    this.lines.push(line);
    if (line.type === 'ack') this.endServer();
    this.linesLeft -= 1;
    if (this.linesLeft > 0) return;
    this.linesLeft = 1 + Math.floor(this.random() * MOST_LINES);
    // The process that has just printed is often in the middle of a tool.
    const chosen = this.random() < 0.5 ? child : [...this.living][Math.floor(this.random() * this.living.size)];
    void this.disturb(chosen ?? child);
  }

  /** Takes the server away if enough turns were acknowledged. */
  private endServer(): void {
    this.acknowledged += 1;
    const at = this.outagesAt[0];
    if (at === undefined || this.acknowledged < at) return;
    this.outagesAt.shift();
    const { outages } = this.shared;
    const next = outages[outages.length - this.outagesAt.length - 1];
    this.outage = this.outage.then(next);
  }

  /** Kills a process, or suspends it for longer than its claim holds. */
  private async disturb(child: ChildProcess): Promise<void> {
    await pause(this.random() * MOST_DELAY_MS);
    if (this.random() > PAUSED_SHARE) {
      if (child.kill('SIGKILL')) this.kills += 1;
      return;
    }
    if (child.kill('SIGSTOP')) this.pauses += 1;
    await pause(2 * CLAIM_MS);
    child.kill('SIGCONT');
  }
}

/** Returns undefined for the line that a process was printing when it was killed. */
function lineOf(text: string): TurnLine | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
