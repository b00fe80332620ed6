import type { Clock } from '../../internal/clock.js';

/** Delay in milliseconds after a change notification. One reading of the list then covers several notifications. */
const GATHER_MS = 100;
/** The pause after a reading, as a multiple of the time that the reading took. */
const PAUSES = 10;
const MAX_PAUSE_MS = 60_000;

/** Reads a list again after change notifications, with pauses, because a server may notify after each reading. */
export class Rereads {
  private timer: unknown = undefined;
  private reading: Promise<void> | undefined = undefined;
  /** True if a change was announced after the last reading began. */
  private isStale = false;
  private isOpen = false;
  /** The next reading does not begin before this time, unless a result waits for it. */
  private nextAt = 0;

  /** `read` never rejects. */
  constructor(
    private readonly clock: Clock,
    private readonly read: () => Promise<void>,
  ) {}

  /** Called after the first reading. Reads the list again if a change was announced during the first reading. */
  begin(): void {
    this.isOpen = true;
    if (this.isStale) this.changed();
  }

  end(): void {
    this.clock.clearTimeout(this.timer);
    this.timer = undefined;
    this.isStale = false;
    this.isOpen = false;
  }

  changed(): void {
    this.isStale = true;
    if (!this.isOpen || this.reading !== undefined) return;
    const { clock } = this;
    this.timer ??= clock.setTimeout(() => void this.readNow(), Math.max(GATHER_MS, this.nextAt - clock.now()));
  }

  /** Reads the changes that were announced before, without a pause. Never rejects. */
  async catchUp(): Promise<void> {
    await this.reading;
    if (this.isStale && this.isOpen) await this.readNow();
  }

  private readNow(): Promise<void> {
    this.clock.clearTimeout(this.timer);
    this.timer = undefined;
    this.reading ??= this.readInTime().finally(() => {
      this.reading = undefined;
      if (this.isStale) this.changed();
    });
    return this.reading;
  }

  private async readInTime(): Promise<void> {
    const { clock } = this;
    const began = clock.now();
    this.isStale = false;
    await this.read();
    const ended = clock.now();
    this.nextAt = ended + Math.min(PAUSES * (ended - began), MAX_PAUSE_MS);
  }
}
