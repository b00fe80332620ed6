import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import { hasCode } from '../../process/files/error-code.js';
import { exactText } from '../../process/files/file-bytes.js';
import { type FolderLock, lockProblemText, withFileLock } from '../../process/files/folder-lock.js';
import { isInAny } from '../../process/files/location.js';
import { workspaceRoots } from '../../process/files/workspace.js';
import { backUp } from '../../process/files/write-atomic.js';
import { TrustStoreError } from '../error.js';
import { canonicalJson } from '../fingerprint/canonical-json.js';
import type { TrustItem, TrustKind } from '../item.js';

/**
 * The fields that identify an item. Each item has its own approval, even if other fields are equal. Paths have links
 * resolved.
 */
export interface ItemIdentity {
  readonly kind: TrustKind;
  readonly name: string;
  readonly event?: string | undefined;
  readonly extension?: string | undefined;
  readonly source?: string | undefined;
  readonly workspace: string;
}

/** A stored approval of the user. */
export interface Approval extends ItemIdentity {
  /** The fingerprint of the item. */
  readonly digest: string;
  /** SHA-256 of the files that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Time of approval in ISO 8601. */
  readonly approvedAt: string;
}

/** The content of the approval file. */
interface TrustRecord {
  readonly approvals: readonly Approval[];
  /** Fingerprints of the user's own items when they last ran. */
  readonly seen: ReadonlyMap<string, string>;
}

const EMPTY_RECORD: TrustRecord = { approvals: [], seen: new Map() };
const VERSION = 1;

/** The name of the approval file in the state directory. */
const TRUST_FILE = 'trusted-hooks.json';
/** The largest size of the approval file. One approval takes less than a kilobyte. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Options of a trust store. */
export interface TrustStoreOptions {
  readonly stateDir: string;
  /**
   * The workspace. The path of the store, with links followed, must lie outside of it: otherwise the workspace could
   * approve itself.
   */
  readonly workspaceDir: string;
  readonly logger?: Logger | undefined;
}

/**
 * Stores the user's approvals in one file that only the user can read. Each change is atomic, even if other processes
 * change the file at the same time.
 *
 * A file that is damaged or writable by others counts as empty. It is copied to a backup before it is overwritten.
 */
export class TrustStore {
  readonly path: string;
  private readonly warned = new Set<string>();
  /** The content of the file at the last read or write. It is parsed again when it changes. */
  private known: { readonly text: string; readonly record: TrustRecord } | undefined = undefined;

  private readonly roots: readonly string[];

  constructor(private readonly options: TrustStoreOptions) {
    this.path = join(options.stateDir, TRUST_FILE);
    this.roots = workspaceRoots(options.workspaceDir);
  }

  /** Returns the approvals of all workspaces. */
  async list(): Promise<readonly Approval[]> {
    return (await this.read()).approvals;
  }

  /** Stores an approval, and replaces any other approval of the same item. Returns the replaced approvals. */
  async approve(approval: Approval): Promise<readonly Approval[]> {
    return this.replace((other) => identityText(other) === identityText(approval), [structuredClone(approval)]);
  }

  /** Revokes approvals, by fingerprint or by a predicate. Returns the revoked approvals. */
  async revoke(which: string | ((approval: Approval) => boolean)): Promise<readonly Approval[]> {
    return this.replace(typeof which === 'string' ? ({ digest }) => digest === which : which, []);
  }

  /** Returns the recorded fingerprints of the user's own items, and of the pinned tools of MCP servers. */
  async seen(): Promise<ReadonlyMap<string, string>> {
    return (await this.read()).seen;
  }

  /** Records the fingerprints of the user's own items. Returns the previous values of those that changed. */
  async noteSeen(current: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string | undefined>> {
    const { seen } = await this.read();
    const changed = [...current].filter(([key, value]) => seen.get(key) !== value);
    if (changed.length > 0) await this.update((record) => ({ ...record, seen: new Map([...record.seen, ...current]) }));
    return new Map(changed.map(([key]) => [key, seen.get(key)]));
  }

  private async replace(isGone: (approval: Approval) => boolean, added: readonly Approval[]) {
    let gone: readonly Approval[] = [];
    await this.update((record) => {
      gone = record.approvals.filter(isGone);
      return { ...record, approvals: [...record.approvals.filter((approval) => !isGone(approval)), ...added] };
    });
    return gone;
  }

  private async update(change: (record: TrustRecord) => TrustRecord): Promise<void> {
    this.check();
    await this.writing(() => mkdir(dirname(this.path), { recursive: true, mode: 0o700 }));
    const act = async (lock: Pick<FolderLock, 'replace'>) => {
      const record = change(await this.read(() => this.writing(() => backUp(this.path))));
      const text = formatRecord(record);
      await this.writing(() => lock.replace(this.path, text));
      if (this.readText() !== text) {
        throw new TrustStoreError(
          `${this.path} is ignored, because other users can write to it: choose a \`stateDir\` on a file system with permissions.`,
        );
      }
      this.known = { text, record };
    };
    await this.writing(() =>
      withFileLock(this.path, act, (folder, problem) => new TrustStoreError(lockProblemText(folder, problem))),
    );
  }

  private async writing(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      if (cause instanceof TrustStoreError) throw cause;
      throw new TrustStoreError(`${this.path} could not be written: ${describeError(cause)}`, { cause });
    }
  }

  private async read(keep: () => Promise<void> = async () => {}): Promise<TrustRecord> {
    this.check();
    const text = this.readText();
    if (text === undefined) return EMPTY_RECORD;
    if (text === this.known?.text) return this.known.record;
    const parsed = parseRecord(text);
    if (parsed === undefined) {
      this.warnOnce(
        `${this.path} is damaged, has another version, is writable by others, or is a link without a target. All approvals in it are ignored.`,
      );
      await keep();
      return EMPTY_RECORD;
    }
    if (parsed.dropped > 0)
      this.warnOnce(
        `${this.path} has ${parsed.dropped} invalid entries, such as entries without a digest. They are ignored.`,
      );
    this.known = { text, record: parsed.record };
    return parsed.record;
  }

  /**
   * Reads the file. Returns an empty string if others can write to it, if it is invalid UTF-8, or if it is a link
   * without a target. Refuses a pipe or a device without waiting for it.
   */
  private readText(): string | undefined {
    let file: number | undefined;
    try {
      file = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      const found = fstatSync(file);
      if (!found.isFile() || found.size > MOST_BYTES) {
        throw new TrustStoreError(`${this.path} must be a file of at most ${MOST_BYTES} bytes. Remove it.`);
      }
      return isWritableByOthers(found) ? '' : (exactText(readFileSync(file)) ?? '');
    } catch (cause) {
      // A link without a target is not a missing file: the approvals may be stored at the target.
      if (hasCode(cause, 'ENOENT')) return lstatSync(this.path, { throwIfNoEntry: false }) && '';
      if (cause instanceof TrustStoreError) throw cause;
      throw new TrustStoreError(`${this.path} could not be read: ${describeError(cause)}`, { cause });
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Called for each access, because the path may have become a link. */
  private check(): void {
    if (!isInAny(this.path, this.roots)) return;
    throw new TrustStoreError(
      `${this.path} lies in the workspace ${this.options.workspaceDir}: choose a \`stateDir\` outside of it.`,
    );
  }

  private warnOnce(message: string): void {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    (this.options.logger ?? consoleLogger).warn(message);
  }
}

/** True if another user can write to the file. The owner of a file always can, whatever its mode. */
function isWritableByOthers({ mode, uid }: Stats): boolean {
  if (process.platform === 'win32') return false;
  return (mode & 0o022) !== 0 || (uid !== 0 && uid !== process.geteuid?.());
}

const identityTexts = new WeakMap<ItemIdentity, string>();

/** Returns a string that is equal only for the same identity. */
export function identityText(identity: ItemIdentity): string {
  const { kind, name, event, extension, source, workspace } = identity;
  const text = identityTexts.get(identity) ?? canonicalJson([kind, workspace, source, extension, name, event]);
  identityTexts.set(identity, text);
  return text;
}

/** Returns the identity of an item. Expects paths with links resolved. */
export function identityOf({ item, workspace, source }: Identified): ItemIdentity {
  const { kind, name, event, extension } = item;
  return { kind, name, event, extension, source, workspace };
}

/** An item with its workspace and source file, links resolved. */
export interface Identified {
  readonly item: TrustItem;
  readonly workspace: string;
  readonly source: string | undefined;
}

function formatRecord({ approvals, seen }: TrustRecord): string {
  return `${JSON.stringify({ version: VERSION, approvals, seen: Object.fromEntries(seen) }, null, 2)}\n`;
}

/**
 * Parses an approval file. Returns undefined if it is invalid or has another version. `dropped` counts invalid entries.
 */
export function parseRecord(text: string): { record: TrustRecord; dropped: number } | undefined {
  const parsed = parseObject(text);
  if (parsed?.version !== VERSION || !Array.isArray(parsed.approvals)) return undefined;
  const approvals = parsed.approvals.filter(isApproval);
  const seen = Object.entries(isObject(parsed.seen) ? parsed.seen : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { record: { approvals, seen: new Map(seen) }, dropped: parsed.approvals.length - approvals.length };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isApproval(entry: unknown): entry is Approval {
  if (!isObject(entry)) return false;
  const { kind, name, workspace, digest, scripts, approvedAt, event, extension, source } = entry;
  const texts = [kind, name, workspace, digest, approvedAt];
  const mayBeAbsent = [event, extension, source];
  if (texts.some((text) => typeof text !== 'string') || !/^sha256:[0-9a-f]{64}$/.test(String(digest))) return false;
  return isObject(scripts) && mayBeAbsent.every((text) => text === undefined || typeof text === 'string');
}
