import { describeError, MessageInvalidError } from '../../errors.js';
import type { OptionTable } from '../../internal/options/validate.js';
import type { Message } from '../../model/message.js';
import { messageFromJson, messageToJson } from '../../state/message-json.js';
import { forkSession } from '../../state/session-fork.js';
import { listSessions, resolveSessionQuery } from '../../state/session-list.js';
import type {
  KnownSession,
  SessionChange,
  SessionClaim,
  SessionDetails,
  SessionFork,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionSummary,
  StoredSession,
} from '../../state/session-store.js';
import { type FileOptions, fileRules, resolveFileOptions } from './options.js';
import { claimLine, createLine, detailsLine, endLine, type SessionLog, saveLine, sessionForm } from './session-log.js';
import { FileVault } from './vault.js';

/** Options of a FileSessionStore. */
export interface FileSessionStoreOptions extends FileOptions {
  /** Milliseconds until a session expires and is deleted, after its last load or save. Default: never. */
  readonly ttlMs?: number | undefined;
}

const rules = {
  ...fileRules,
  ttlMs: { expected: 'a number of milliseconds above 0', accepts: (value) => typeof value === 'number' && value > 0 },
} satisfies OptionTable<FileSessionStoreOptions>;

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
    const { ttlMs = Number.POSITIVE_INFINITY } = options;
    this.ttlMs = ttlMs;
    this.vault = new FileVault({ ...resolved, form: sessionForm });
  }

  async load(id: string, known?: KnownSession): Promise<StoredSession | undefined> {
    const stored = await this.vault.run(id, {
      reads: true,
      run: ({ state, now, write }) => {
        if (state.record.revision === 0) return undefined;
        const end = now + this.ttlMs;
        if (end !== state.end) {
          state.end = end;
          write(endLine(state), false);
        }
        return state.record.since(known);
      },
    });
    return stored && { ...stored, messages: stored.messages.map(messageFromJson) };
  }

  async save(id: string, { append, ...change }: SessionChange, expected: number): Promise<number | undefined> {
    const added = append.map(encodeMessage);
    return this.vault.run(id, {
      creates: expected === 0,
      run: ({ state, now, write }) => {
        const { record } = state;
        if (!record.accepts(change, expected, now)) return undefined;
        state.id = id;
        state.end = now + this.ttlMs;
        record.save({ ...change, append: added }, now);
        if (expected === 0) write(createLine(state), true);
        write(saveLine(state, { keep: change.keep, append: added, revision: record.revision }), true);
        return record.revision;
      },
    });
  }

  async delete(id: string): Promise<void> {
    await this.vault.remove(id);
  }

  async claim(id: string, claim: SessionClaim): Promise<number | undefined> {
    return this.vault.run(id, {
      run: ({ state: { record }, now, write }) => {
        const attempt = record.claim(claim, now);
        if (attempt !== undefined) write(claimLine(record), true);
        return attempt;
      },
    });
  }

  async renew(id: string, token: string, ttlMs: number): Promise<boolean> {
    return this.vault.run(id, {
      run: ({ state: { record }, now, write }) => {
        const isRenewed = record.renew(token, now + ttlMs);
        if (isRenewed) write(claimLine(record), false);
        return isRenewed;
      },
    });
  }

  async release(id: string, token: string): Promise<void> {
    await this.vault.run(id, {
      run: ({ state: { record }, write }) => {
        if (record.release(token)) write(claimLine(record), false);
      },
    });
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    resolveSessionQuery(query);
    const found = await this.vault.runAll(
      { reads: true, run: ({ state }) => summaryOf(state) },
      { skipsDamaged: true },
    );
    return listSessions(
      found.filter((summary) => summary !== undefined),
      query,
    );
  }

  async update(id: string, details: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    return this.vault.run(id, {
      run: ({ state, write }) => {
        if (state.record.revision === 0) return undefined;
        if (state.record.update(details)) write(detailsLine(state), true);
        return summaryOf(state);
      },
    });
  }

  fork(id: string, fork: SessionFork): Promise<SessionSummary | undefined> {
    return forkSession(this, id, fork);
  }
}

function summaryOf({ id, record }: SessionLog): SessionSummary | undefined {
  return record.revision === 0 ? undefined : record.summary(id);
}

function encodeMessage(message: Message): string {
  try {
    return messageToJson(message);
  } catch (cause) {
    throw new MessageInvalidError(`A message cannot be stored as JSON: ${describeError(cause)}`, { cause });
  }
}
