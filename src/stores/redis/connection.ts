import { createHash } from 'node:crypto';
import pTimeout from 'p-timeout';
import { TimeoutExceededError } from '../../errors.js';
import { type RedisClient, type SendCommand, sendCommandOf } from './client.js';
import { RedisUnavailableError } from './error.js';

/** A script in Lua, which Redis runs as one atomic step. */
export class RedisScript {
  readonly sha: string;

  constructor(readonly text: string) {
    this.sha = createHash('sha1').update(text).digest('hex');
  }
}

/** Runs a script. Rejects with a RedisUnavailableError, at the latest when the time of the call is over. */
export type RunScript = (script: RedisScript, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** Redis, as the stores use it. */
export class RedisConnection {
  private readonly send: SendCommand;

  constructor(
    client: RedisClient,
    private readonly timeoutMs: number,
  ) {
    this.send = sendCommandOf(client);
  }

  /** Begins one call of a store: all scripts that it runs share its time. */
  begin(): RunScript {
    const end = performance.now() + this.timeoutMs;
    return async (script, keys, args) => {
      const abort = new AbortController();
      const reply = this.evaluate(script, [`${keys.length}`, ...keys, ...args], abort.signal);
      const milliseconds = Math.max(0, end - performance.now());
      try {
        return await pTimeout(reply, {
          milliseconds,
          message: new TimeoutExceededError('call to Redis', this.timeoutMs),
        });
      } catch (cause) {
        // Takes a late command back if it still waits to be sent.
        abort.abort();
        throw new RedisUnavailableError(cause);
      }
    };
  }

  private async evaluate({ sha, text }: RedisScript, args: readonly string[], signal: AbortSignal): Promise<unknown> {
    const firstKey = args[1] ?? '';
    try {
      return await this.send(firstKey, ['EVALSHA', sha, ...args], signal);
    } catch (error) {
      if (!isUnknownScript(error) || signal.aborted) throw error;
      return await this.send(firstKey, ['EVAL', text, ...args], signal);
    }
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

const decoder = new TextDecoder();

/** A reply as a list of texts: whatever a client makes of numbers, and also where it was told to give bytes. */
export function textsOf(reply: unknown): string[] {
  return (reply as readonly unknown[]).map((item) => textOf(item));
}

/** A reply as text. */
export function textOf(reply: unknown): string {
  return reply instanceof Uint8Array ? decoder.decode(reply) : String(reply);
}
