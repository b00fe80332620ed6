import { isObject } from '../../internal/json.js';
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
export interface TrustRecord {
  readonly approvals: readonly Approval[];
  /** Fingerprints of the user's own items when they last ran. */
  readonly seen: ReadonlyMap<string, string>;
}

export const EMPTY_RECORD: TrustRecord = { approvals: [], seen: new Map() };
const VERSION = 1;

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

export function formatRecord({ approvals, seen }: TrustRecord): string {
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
