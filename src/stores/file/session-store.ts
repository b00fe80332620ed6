import { describeError, MessageInvalidError } from '../../errors.js';
import type { OptionTable } from '../../internal/options/validate.js';
import type { Message } from '../../model/message.js';
import { messageFromJson, messageToJson } from '../../state/message-json.js';
import { checkKeep, type SessionChange, type SessionStore, type StoredSession } from '../../state/session-store.js';
import { type FileOptions, fileRules, resolveFileOptions } from './options.js';
import { FileVault, type VaultForm } from './vault.js';

const DAY_MS = 86_400_000;

/** Options of a FileSessionStore. */
export interface FileSessionStoreOptions extends FileOptions {
  /** Milliseconds until a session expires after its last load or save. `Infinity` means never. Default: 24 hours. */
  readonly ttlMs?: number | undefined;
}

const rules = {
  ...fileRules,
  ttlMs: { expected: 'a number of milliseconds above 0', accepts: (value) => typeof value === 'number' && value > 0 },
} satisfies OptionTable<FileSessionStoreOptions>;

/** The state that the log of a session produces. */
interface SessionLog {
  /** Each message as JSON. */
  readonly messages: string[];
  revision: number;
  end: number;
}

/**
 * Stores sessions on disk. An acknowledged save survives if the process is killed at any moment. Any number of processes
 * may use the directory at once. A save writes only new messages. A damaged file causes a StoreCorruptError, and is left
 * unchanged.
 *
 * @example
 * const store = new FileSessionStore({ folder: './sessions', ttlMs: 7 * 24 * 3600 * 1000 });
 * const agent = new Agent({ model, store });
 * await using session = await agent.session({ id: 'ada' });
 */
export class FileSessionStore implements SessionStore {
  private readonly vault: FileVault<SessionLog>;
  private readonly ttlMs: number;

  constructor(options: FileSessionStoreOptions) {
    const resolved = resolveFileOptions(options, rules);
    const { ttlMs = DAY_MS } = options;
    this.ttlMs = ttlMs;
    this.vault = new FileVault({ ...resolved, form });
  }

  async load(id: string): Promise<StoredSession | undefined> {
    const stored = await this.vault.run(id, {
      run: ({ state, now, write }) => {
        if (state.revision === 0) return undefined;
        state.end = now + this.ttlMs;
        write([JSON.stringify(['end', state.end])], false);
        return { messages: [...state.messages], revision: state.revision };
      },
    });
    return stored && { messages: stored.messages.map(messageFromJson), revision: stored.revision };
  }

  async save(id: string, { keep, append }: SessionChange, expected: number): Promise<number | undefined> {
    const added = append.map(encodeMessage);
    return this.vault.run(id, {
      creates: expected === 0,
      run: ({ state, now, write }) => {
        if (state.revision !== expected) return undefined;
        checkKeep(keep, state.messages.length);
        const change = { keep, added, revision: expected + 1, end: now + this.ttlMs };
        applySave(state, change);
        write(saveLine(change), true);
        return state.revision;
      },
    });
  }

  async delete(id: string): Promise<void> {
    await this.vault.remove(id);
  }
}

interface Save {
  readonly keep: number;
  readonly added: readonly string[];
  readonly revision: number;
  readonly end: number;
}

function applySave(state: SessionLog, { keep, added, revision, end }: Save): void {
  state.messages.length = keep;
  for (const message of added) state.messages.push(message);
  state.revision = revision;
  state.end = end;
}

function saveLine({ keep, added, revision, end }: Save): string[] {
  return [JSON.stringify(['save', keep, revision, end]), ...added];
}

/** JSON stores Infinity as null. */
type Line =
  | readonly ['save', keep: number, revision: number, end: number | null]
  | readonly ['end', end: number | null];

const form: VaultForm<SessionLog> = {
  kind: 'session',
  create: () => ({ messages: [], revision: 0, end: Number.POSITIVE_INFINITY }),
  apply(state, [head = '', ...added]) {
    const line: Line = JSON.parse(head);
    const end = line.at(-1) as number | null;
    if (line[0] === 'end') state.end = end ?? Number.POSITIVE_INFINITY;
    else applySave(state, { keep: line[1], added, revision: line[2], end: end ?? Number.POSITIVE_INFINITY });
  },
  *dump({ messages, revision, end }) {
    yield saveLine({ keep: 0, added: [], revision, end });
    for (const [index, message] of messages.entries()) yield saveLine({ keep: index, added: [message], revision, end });
  },
  isEmpty: ({ revision, end }, now) => revision === 0 || end <= now,
  endOf: ({ end }) => end,
};

function encodeMessage(message: Message): string {
  try {
    return messageToJson(message);
  } catch (cause) {
    throw new MessageInvalidError(`A message cannot be stored as JSON: ${describeError(cause)}`, { cause });
  }
}
