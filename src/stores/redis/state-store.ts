import { mapConcurrent } from '../../internal/map-concurrent.js';
import { checkStateKey, utf8Bytes } from '../../state/state-key.js';
import { checkStatePolicy } from '../../state/state-policy.js';
import type {
  StateBatch,
  StateChange,
  StateEntry,
  StatePeek,
  StatePolicy,
  StateScope,
  StateStats,
  StateStore,
  StateView,
} from '../../state/state-store.js';
import { limitsOf, timesOf, toWhole } from '../policy-arguments.js';
import { keyPrefixOf } from './client.js';
import { pairsIn, RedisConnection, type RedisScript, textsOf } from './connection.js';
import { RedisExtensionIndex } from './extension-index.js';
import { fromKeyPiece, RedisKeys, toKeyPiece } from './keys.js';
import { type RedisStoreOptions, resolveStateStoreOptions } from './options.js';
import {
  applyScript,
  clearScript,
  clearSessionScript,
  getScript,
  peekScript,
  setScript,
  statsScript,
  touchScript,
} from './state-script.js';

/**
 * Stores the state of extensions in Redis 6 or newer, shared by all processes. Each call is one atomic script that uses the
 * clock of Redis. Redis removes expired data. Rejects with a RedisUnavailableError if Redis does not answer within
 * `timeoutMs`.
 *
 * @example
 * const store = new RedisStateStore({ client: await createClient({ url }).connect() });
 */
export class RedisStateStore implements StateStore {
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;

  constructor(options: RedisStoreOptions) {
    const settings = resolveStateStoreOptions(options);
    this.connection = new RedisConnection(settings.client, settings.timeoutMs);
    this.keys = new RedisKeys(settings.prefix, keyPrefixOf(settings.client));
  }

  async get(scope: StateScope, key: string, policy: StatePolicy): Promise<string | undefined> {
    checkStateKey(key);
    const { session, keys, member } = this.locate(scope, key);
    const [, value] = await this.slide({ script: getScript, session, keys, args: [member], policy });
    return value;
  }

  async set(scope: StateScope, { key, value, ifValue }: StateEntry, policy: StatePolicy): Promise<StateChange> {
    checkStateKey(key);
    const { session, keys, member } = this.locate(scope, key);
    const args = [...limitsOf(policy), member, value, `${utf8Bytes(key)}`, ...conditionOf(ifValue)];
    return changeOf(await this.slide({ script: setScript, session, keys, args, policy }));
  }

  async clear(scope: StateScope, key?: string): Promise<number> {
    if (key === undefined) return this.clearScope(toKeyPiece(scope.extension), toKeyPiece(scope.session));
    checkStateKey(key);
    const { keys, member } = this.locate(scope, key);
    return Number(await this.connection.begin()(clearScript, keys, ['', member]));
  }

  async clearExtension(extension: string): Promise<number> {
    const piece = toKeyPiece(extension);
    const index = new RedisExtensionIndex(this.keys.sessions(piece));
    const counts = await mapConcurrent(await index.read(this.connection.begin()), async (entry) => {
      const count = await this.clearScope(piece, entry.session);
      await index.remove(this.connection.begin(), entry);
      return count;
    });
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async clearSession(session: string): Promise<number> {
    return Number(await this.connection.begin()(clearSessionScript, this.keys.state(toKeyPiece(session)), []));
  }

  async touch(session: string, policy: StatePolicy): Promise<void> {
    const piece = toKeyPiece(session);
    await this.slide({ script: touchScript, session: piece, keys: this.keys.state(piece), args: [], policy });
  }

  async stats(session: string): Promise<StateStats> {
    const reply = await this.connection.begin()(statsScript, this.keys.state(toKeyPiece(session)), []);
    const [bytes, ...extensions] = textsOf(reply);
    return { bytes: Number(bytes), extensions: Object.fromEntries(sizesOf(extensions)) };
  }

  async peek({ session, extensions, extensionBytes }: StatePeek): Promise<StateView> {
    const args = [toWhole(extensionBytes), ...extensions.map(toKeyPiece)];
    const reply = await this.connection.begin()(peekScript, this.keys.state(toKeyPiece(session)), args);
    return viewOf(textsOf(reply), extensions);
  }

  async apply({ session, entries, used }: StateBatch, policy: StatePolicy): Promise<readonly StateChange[]> {
    for (const { key } of [...entries, ...used]) checkStateKey(key);
    const piece = toKeyPiece(session);
    const memberOf = (it: { extension: string; key: string }) => `${toKeyPiece(it.extension)}:${toKeyPiece(it.key)}`;
    const writes = entries.flatMap((entry) => {
      const [condition = '', expected = ''] = conditionOf(entry.ifValue);
      return [memberOf(entry), entry.value, `${utf8Bytes(entry.key)}`, condition, expected];
    });
    const keys = [...this.keys.state(piece), ...entries.map((entry) => this.keys.value(piece, memberOf(entry)))];
    const args = [...limitsOf(policy), `${entries.length}`, ...writes, ...used.map(memberOf)];
    const reply = await this.slide({ script: applyScript, session: piece, keys, args, policy });
    const changes: StateChange[] = [];
    for (let at = 0; at < reply.length; ) {
      const end = at + 4 + 2 * Number(reply[at]);
      changes.push(changeOf(reply.slice(at + 1, end)));
      at = end;
    }
    return changes;
  }

  private async clearScope(extension: string, session: string): Promise<number> {
    return Number(await this.connection.begin()(clearScript, this.keys.state(session), [extension]));
  }

  private locate({ extension, session: id }: StateScope, key: string) {
    const session = toKeyPiece(id);
    const member = `${toKeyPiece(extension)}:${toKeyPiece(key)}`;
    return { session, member, keys: [...this.keys.state(session), this.keys.value(session, member)] };
  }

  /**
   * Runs a script that extends the lifetime of a session.
   *
   * A script may reply that an extension index lacks the session. This method then writes the index entries and runs
   * the script again. Finally it writes the entries once more, because another process may have removed them while it
   * cleared an extension.
   */
  private async slide({ script, session, keys, args, policy }: Slide): Promise<string[]> {
    checkStatePolicy(policy);
    const run = this.connection.begin();
    const claimed = new Set<string>();
    let end = '0';
    const index = () =>
      Promise.all([...claimed].map((it) => new RedisExtensionIndex(this.keys.sessions(it)).write(run, session, end)));
    for (;;) {
      const found = await run(script, keys, [...timesOf(policy), end, `:${[...claimed].join(':')}:`, ...args]);
      const reply = textsOf(found ?? []);
      if (reply[0] !== 'index') {
        await index();
        return reply;
      }
      end = reply[1] ?? end;
      for (const extension of reply.slice(2)) claimed.add(extension);
      await index();
    }
  }
}

interface Slide {
  readonly script: RedisScript;
  readonly session: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly policy: StatePolicy;
}

function changeOf([stored, before, after, ...evicted]: readonly string[]): StateChange {
  return {
    stored: stored === '1',
    ...(stored === 'conflict' && { conflict: true }),
    evicted: sizesOf(evicted).map(([key, bytes]) => ({ key, bytes })),
    bytesBefore: Number(before),
    bytesAfter: Number(after),
  };
}

/** Decodes the reply of `peekScript`. */
function viewOf([count, bytes, ...reply]: readonly string[], requested: readonly string[]): StateView {
  let at = 2 * Number(count);
  const extensions = Object.fromEntries(sizesOf(reply.slice(0, at)));
  const complete: string[] = [];
  const values: StateView['values'][number][] = [];
  for (const extension of requested) {
    if (reply[at] === '1') complete.push(extension);
    const end = at + 2 + 2 * Number(reply[at + 1]);
    for (at += 2; at < end; at += 2) {
      values.push({ extension, key: fromKeyPiece(reply[at] ?? ''), value: reply[at + 1] ?? '' });
    }
  }
  return { bytes: Number(bytes), extensions, values, complete };
}

/** Returns the condition of a write as arguments of the script. */
function conditionOf(ifValue: StateEntry['ifValue']): string[] {
  if (ifValue === undefined) return [''];
  return ifValue === null ? ['absent'] : ['equal', ifValue];
}

/** Decodes a list in which names and sizes in bytes alternate. */
function sizesOf(flat: readonly string[]): (readonly [name: string, bytes: number])[] {
  return pairsIn(flat).map(([name, bytes]) => [fromKeyPiece(name), Number(bytes)]);
}
