import { copyDetails } from './session-details.js';
import {
  checkKeep,
  type KnownSession,
  type SessionChange,
  type SessionClaim,
  type SessionDetails,
  type SessionSummary,
} from './session-store.js';

/** A change whose messages have the form in which a store keeps them. */
export interface RecordChange<Stored> extends Omit<SessionChange, 'append'> {
  readonly append: readonly Stored[];
}

/** The latest claim of a session. */
export interface HeldClaim {
  readonly token: string;
  /** Time after which another caller may take over, in milliseconds since the epoch. */
  readonly until: number;
}

/** One stored session: the rules of the store contract, without a clock and without storage. */
export class SessionRecord<Stored> {
  uid = '';
  revision = 0;
  details: SessionDetails = {};
  createdAt = 0;
  updatedAt = 0;
  /** The number of claims since the last save. */
  attempt = 0;
  held: HeldClaim | undefined = undefined;
  readonly messages: Stored[] = [];
  /** The revision that added each message. Never decreases along the array. */
  readonly revisions: number[] = [];

  /** Returns the messages that were saved after the known revision, and the number of messages before them. */
  since(known: KnownSession | undefined) {
    const { uid, revision, messages, revisions } = this;
    let keep = 0;
    if (known !== undefined && known.uid === uid && known.revision <= revision) {
      keep = messages.length;
      while (keep > 0 && (revisions[keep - 1] as number) > known.revision) keep -= 1;
    }
    return { uid, revision, keep, messages: messages.slice(keep) };
  }

  /** Returns true if the writer may make this change. Throws an OptionInvalidError if `keep` is invalid. */
  accepts({ keep, uid, claim }: Omit<SessionChange, 'append'>, expected: number, now: number): boolean {
    const { revision, held } = this;
    if (revision !== expected || (revision > 0 && uid !== undefined && uid !== this.uid)) return false;
    if (held?.token !== claim && (claim !== undefined || this.isClaimed(now))) return false;
    checkKeep(keep, this.messages.length);
    return true;
  }

  /** Makes a change that `accepts` has allowed. */
  save({ keep, append, uid, details = {} }: RecordChange<Stored>, now: number): number {
    if (this.revision === 0) {
      this.details = copyDetails(details);
      this.uid = uid ?? crypto.randomUUID();
      this.createdAt = now;
    }
    this.put({ keep, append }, this.revision + 1, now);
    return this.revision;
  }

  /** Stores messages as part of the given revision, which ends every claim. */
  put({ keep, append }: Pick<RecordChange<Stored>, 'keep' | 'append'>, revision: number, now: number): void {
    this.revision = revision;
    this.updatedAt = now;
    this.attempt = 0;
    this.held = undefined;
    this.messages.length = keep;
    this.revisions.length = keep;
    for (const message of append) {
      this.messages.push(message);
      this.revisions.push(revision);
    }
  }

  /** Returns the number of the attempt, or undefined if the claim is refused. */
  claim({ token, revision, ttlMs }: SessionClaim, now: number): number | undefined {
    if (revision !== this.revision || revision === 0) return undefined;
    if (this.held?.token !== token) {
      if (this.isClaimed(now)) return undefined;
      this.attempt += 1;
    }
    this.held = { token, until: now + ttlMs };
    return this.attempt;
  }

  renew(token: string, until: number): boolean {
    if (this.held?.token !== token) return false;
    this.held = { token, until };
    return true;
  }

  /** Returns false if the claim has ended or was taken over. */
  release(token: string): boolean {
    if (this.held?.token !== token) return false;
    this.held = undefined;
    return true;
  }

  /** Sets the title and the data, unless they are undefined. Returns false if both are. */
  update({ title, data }: SessionDetails): boolean {
    this.details = { ...this.details, ...copyDetails({ title, data }) };
    return title !== undefined || data !== undefined;
  }

  summary(id: string): SessionSummary {
    const { details, revision, messages, createdAt, updatedAt } = this;
    return { ...copyDetails(details), id, revision, length: messages.length, createdAt, updatedAt };
  }

  private isClaimed(now: number): boolean {
    return this.held !== undefined && this.held.until > now;
  }
}
