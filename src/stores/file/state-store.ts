import { consoleLogger, type Logger } from '../../internal/logger.js';
import { logger } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import type { StateValue } from '../../state/scope-state.js';
import { SessionState } from '../../state/session-state.js';
import { checkStateKey, entryBytes } from '../../state/state-key.js';
import { checkStatePolicy } from '../../state/state-policy.js';
import type {
  SessionStateEntry,
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
import { type FileOptions, fileRules, resolveFileOptions } from './options.js';
import type { Draft, VaultStep } from './step.js';
import { FileVault, type VaultForm } from './vault.js';

/** Options of a FileStateStore. */
export interface FileStateStoreOptions extends FileOptions {
  /** Receives a warning when a damaged file was moved away. Default: the console. */
  readonly logger?: Logger | undefined;
}

const rules = { ...fileRules, logger } satisfies OptionTable<FileStateStoreOptions>;

/**
 * Stores the state of extensions in files. After a write has resolved, it survives if the process is killed. Any number
 * of processes may use the directory at once.
 *
 * A damaged file is moved away with a warning, and its session starts with empty state.
 *
 * @example
 * const state = new FileStateStore({ folder: './state' });
 * const extensions = new ExtensionRegistry({ state });
 */
export class FileStateStore implements StateStore {
  private readonly vault: FileVault<SessionState>;

  constructor(options: FileStateStoreOptions) {
    const resolved = resolveFileOptions(options, rules);
    const { logger = consoleLogger } = options;
    this.vault = new FileVault({
      ...resolved,
      form,
      onDamage: ({ message }, backup) =>
        logger.warn(`${message} The damaged file was moved to ${backup}, and the session starts with empty state.`),
    });
  }

  async get({ session, extension }: StateScope, key: string, policy: StatePolicy): Promise<string | undefined> {
    checkStateKey(key);
    checkStatePolicy(policy);
    return this.vault.run(session, {
      reads: true,
      run: (draft) => readValue(draft, { extension, key }, policy),
    });
  }

  async set({ session, extension }: StateScope, entry: StateEntry, policy: StatePolicy): Promise<StateChange> {
    checkStateKey(entry.key);
    checkStatePolicy(policy);
    return this.vault.run(session, {
      creates: true,
      run: (draft) => writeValue(draft, { extension, ...entry }, policy),
    });
  }

  async peek(query: StatePeek): Promise<StateView> {
    return this.vault.run(query.session, {
      reads: true,
      run: ({ state }) => state.view(query),
    });
  }

  async apply({ session, entries, used }: StateBatch, policy: StatePolicy): Promise<readonly StateChange[]> {
    for (const { key } of [...entries, ...used]) checkStateKey(key);
    checkStatePolicy(policy);
    return this.vault.run(session, {
      creates: entries.length > 0,
      run: (draft) => {
        for (const read of used) readValue(draft, read, policy);
        return entries.map((entry) => writeValue(draft, entry, policy));
      },
    });
  }

  async clear({ session, extension }: StateScope, key?: string): Promise<number> {
    if (key !== undefined) checkStateKey(key);
    return this.vault.run(session, clearing(extension, key));
  }

  async clearExtension(extension: string): Promise<number> {
    const counts = await this.vault.runAll(clearing(extension));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async clearSession(session: string): Promise<number> {
    return this.vault.run(session, clearing());
  }

  async touch(session: string, policy: StatePolicy): Promise<void> {
    checkStatePolicy(policy);
    await this.vault.run(session, {
      run: ({ state, now, write }) => {
        state.touch({ now, policy });
        write([headOf(['end', state.end])], false);
      },
    });
  }

  async stats(session: string): Promise<StateStats> {
    return this.vault.run(session, {
      reads: true,
      run: ({ state }) => state.stats(),
    });
  }
}

function readValue(
  { state, now, write }: Draft<SessionState>,
  { extension, key }: { readonly extension: string; readonly key: string },
  policy: StatePolicy,
): string | undefined {
  const text = state.get(extension, key, { now, policy });
  const value = state.peek(extension, key);
  if (value !== undefined) write([headOf(['use', extension, key, value.usedAt, value.ttlMs, state.end])], false);
  return text;
}

function writeValue(
  { state, now, write }: Draft<SessionState>,
  { extension, ...entry }: SessionStateEntry,
  policy: StatePolicy,
): StateChange {
  const change = state.set(extension, entry, { now, policy });
  const value = state.peek(extension, entry.key);
  if (!change.stored || value === undefined) return change;
  const evicted = change.evicted.map(({ key }) => key);
  write([...setLine(state, extension, value), JSON.stringify(evicted)], true);
  return change;
}

function clearing(extension?: string, key?: string): VaultStep<SessionState, number> {
  return {
    run: ({ state, write }) => {
      const count = state.clear(extension, key);
      if (count > 0) write([headOf(['clear', extension ?? null, key ?? null])], true);
      return count;
    },
  };
}

/** A time or a duration in milliseconds. Null means Infinity, which JSON cannot represent. */
type Time = number | null;
/**
 * The first field of a line in the log, which tells what the line changes. A `use` line only updates the times of a
 * value. A `set` line has two more fields: the value, and the keys that were evicted for it.
 */
type Head = ValueHead | readonly ['clear', extension: string | null, key: string | null] | readonly ['end', end: Time];
type ValueHead = readonly ['set' | 'use', extension: string, key: string, usedAt: number, ttlMs: Time, end: Time];

function headOf(head: Head): string {
  return JSON.stringify(head);
}

function setLine({ end }: SessionState, extension: string, { key, text, usedAt, ttlMs }: StateValue): string[] {
  return [headOf(['set', extension, key, usedAt, ttlMs, end]), JSON.stringify(text)];
}

const form: VaultForm<SessionState> = {
  kind: 'state',
  create: () => new SessionState(),
  apply: applyLine,
  *dump(state) {
    for (const [extension, value] of state.list()) yield setLine(state, extension, value);
  },
  isEmpty: (state, now) => {
    state.purge(now);
    return state.isEmpty;
  },
  endOf: (state) => state.end,
};

function applyLine(state: SessionState, [head = '', json, evicted = '[]']: readonly string[]): void {
  const line: Head = JSON.parse(head);
  if (line[0] === 'clear') return void state.clear(line[1] ?? undefined, line[2] ?? undefined);
  for (const key of JSON.parse(evicted)) state.clear(String(line[1]), key);
  if (line[0] !== 'end') applyValue(state, line, json);
  state.end = (line.at(-1) as Time) ?? Number.POSITIVE_INFINITY;
}

function applyValue(state: SessionState, [, extension, key, usedAt, ttlMs]: ValueHead, json: string | undefined): void {
  const text = json === undefined ? state.peek(extension, key)?.text : String(JSON.parse(json));
  if (text === undefined) return;
  const value = { key, text, bytes: entryBytes(key, text), usedAt, ttlMs: ttlMs ?? Number.POSITIVE_INFINITY };
  state.put(extension, value);
}
