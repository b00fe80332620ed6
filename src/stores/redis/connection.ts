import { createHash } from 'node:crypto';
import { CallLimit } from '../call-limit.js';
import { type RedisClient, type SendCommand, sendCommandOf } from './client.js';
import { RedisUnavailableError } from './error.js';

/** A Lua script, which Redis runs atomically. */
export class RedisScript {
  readonly sha: string;

  constructor(readonly text: string) {
    this.sha = createHash('sha1').update(text).digest('hex');
  }
}

/** Lua script that deletes all keys that are passed to it. */
export const deleteScript = new RedisScript(`return redis.call('UNLINK', unpack(KEYS))`);

/** Runs a Lua script. Rejects with a RedisUnavailableError if it fails or exceeds the time limit of the call. */
export type RunScript = (script: RedisScript, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** Runs the Lua scripts of the stores on Redis. */
export class RedisConnection {
  private readonly send: SendCommand;

  constructor(
    client: RedisClient,
    private readonly timeoutMs: number,
  ) {
    this.send = sendCommandOf(client);
  }

  /** Returns a function that runs the scripts of one store call. All scripts of the call share one time limit. */
  begin(): RunScript {
    const limit = new CallLimit('Redis', this.timeoutMs);
    return async (script, keys, args) => {
      try {
        return await limit.within((signal) => this.evaluate(script, [`${keys.length}`, ...keys, ...args], signal));
      } catch (cause) {
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

/** Converts a reply to an array of strings. Clients may return the items as strings, numbers or bytes. */
export function textsOf(reply: unknown): string[] {
  return (reply as readonly unknown[]).map((item) =>
    item instanceof Uint8Array ? decoder.decode(item) : String(item),
  );
}

/** Splits a list in which names and values alternate into pairs. */
export function pairsIn(flat: readonly string[]): [name: string, value: string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : []));
}
