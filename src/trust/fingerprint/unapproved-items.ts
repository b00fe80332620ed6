import { ItemUnboundError } from '../error.js';
import type { TrustPlace } from '../item.js';
import { type CanonicalValue, canonicalJson } from './canonical-json.js';
import { FileHashes } from './file-hashes.js';
import { type Fingerprint, fingerprintLocated, type LocatedItem } from './fingerprint.js';

/** Limits for all items of one gate that nobody approved. */
interface UnapprovedLimits {
  readonly items: number;
  readonly bytes: number;
  /** Time for reading the items, plus a share of the time since the gate was created. */
  readonly ms: number;
}

const LIMITS: UnapprovedLimits = { items: 1_000, bytes: 1024 * 1024 * 1024, ms: 10_000 };
const SHARE = 0.05;

/** Returns true if a fingerprint is approved, so that its cost does not count. */
type IsApproved = (digest: string) => boolean;

/**
 * Computes the fingerprints of items for decisions, one at a time. Hashes each file once per path, size and times of
 * change, and limits the work for items that nobody approved. When a limit is reached, the last fingerprint of such an
 * item counts, and a new item is refused unread.
 */
export class UnapprovedItems {
  private readonly hashes = new FileHashes();
  private readonly known = new Map<string, Fingerprint>();
  private readonly began = performance.now();
  private spentMs = 0;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly place: TrustPlace,
    private readonly limits = LIMITS,
  ) {}

  /** Rejects with an `ItemUnboundError` if the item cannot be read, or if a limit is reached. */
  fingerprint(located: LocatedItem, wasApproved: boolean, isApproved: IsApproved): Promise<Fingerprint> {
    const next = this.queue.then(() => this.compute(located, wasApproved, isApproved));
    this.queue = next.catch(() => {});
    return next;
  }

  private async compute(located: LocatedItem, wasApproved: boolean, isApproved: IsApproved): Promise<Fingerprint> {
    const key = keyOf(located);
    const known = this.known.get(key);
    if (this.isExhausted(known === undefined)) {
      if (known !== undefined) return known;
      // An approved item is always read: others must not be able to switch it off.
      if (!wasApproved) throw exhausted(this.limits);
    }
    const began = performance.now();
    let cost = 1;
    try {
      const fingerprint = await fingerprintLocated(located, this.place, { hashes: this.hashes });
      if (isApproved(fingerprint.digest)) cost = 0;
      else this.known.set(key, fingerprint);
      return fingerprint;
    } finally {
      this.spentMs += cost * (performance.now() - began);
    }
  }

  private isExhausted(isNew: boolean): boolean {
    if (isNew && (this.known.size >= this.limits.items || this.hashes.bytes > this.limits.bytes)) return true;
    return this.spentMs > this.limits.ms + SHARE * (performance.now() - this.began);
  }
}

/** Returns a string that is equal only for the same definition at the same place. */
function keyOf({ item, scope, source, root, cwd, executable }: LocatedItem): string {
  return canonicalJson([item as unknown as CanonicalValue, scope, source, root, cwd, executable?.realPath]);
}

function exhausted({ items, bytes, ms }: UnapprovedLimits): ItemUnboundError {
  const limits = `${items} items, ${bytes} bytes and ${ms} ms`;
  const message = `The items that nobody approved exceed the limits of ${limits} for one process. Remove some of them, or try again later.`;
  return new ItemUnboundError('too-large', message);
}
