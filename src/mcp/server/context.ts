import type { ConnectionOptions } from '../connection/sdk.js';
import type { McpEvent } from './event.js';
import type { ToolPins } from './tool-pins.js';

/** One server, and the objects that all its connections share. */
export interface ServerContext extends Pick<ConnectionOptions, 'definition' | 'settings' | 'log' | 'hold'> {
  readonly emit: (event: McpEvent) => void;
  /** Called after each change of the tools that the server offers. */
  readonly onTools: () => void;
  readonly pins: ToolPins;
  /** The cleanup that still runs for connections that have failed or were closed. */
  readonly endings: Endings;
}

/** Tracks cleanup that runs in the background, such as waiting for a process to end. */
export class Endings {
  private readonly open = new Set<Promise<void>>();

  constructor(private readonly onError: (error: unknown) => void) {}

  add(ending: Promise<void>): void {
    const settled = ending.catch(this.onError).finally(() => this.open.delete(settled));
    this.open.add(settled);
  }

  async settled(): Promise<void> {
    while (this.open.size > 0) await Promise.all(this.open);
  }
}
