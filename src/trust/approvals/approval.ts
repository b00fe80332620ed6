import { isObject } from '../../internal/json.js';
import { canonicalJson } from '../fingerprint/canonical-json.js';
import type { TrustItem, TrustKind } from '../item.js';

/** What tells items apart: each has its own approval, however alike their names are. Paths are without links. */
export interface ItemIdentity {
  readonly kind: TrustKind;
  readonly name: string;
  readonly event?: string | undefined;
  readonly extension?: string | undefined;
  readonly source?: string | undefined;
  readonly workspace: string;
}

/** A decision of the user's, as it is stored. */
export interface Approval extends ItemIdentity {
  /** The one value that stands for all of the item. */
  readonly digest: string;
  /** SHA-256 of the files that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Of a hook: which tools it was approved for. */
  readonly matcher?: string | undefined;
  /** ISO 8601. */
  readonly approvedAt: string;
}

/** What the store holds. */
export interface TrustRecord {
  readonly approvals: readonly Approval[];
  /** What the user's own items looked like when they last ran. */
  readonly seen: ReadonlyMap<string, string>;
}

export const EMPTY_RECORD: TrustRecord = { approvals: [], seen: new Map() };
const VERSION = 1;

const identityTexts = new WeakMap<ItemIdentity, string>();

/** A text that two items share only where they are the same one. */
export function identityText(identity: ItemIdentity): string {
  const { kind, name, event, extension, source, workspace } = identity;
  const text = identityTexts.get(identity) ?? canonicalJson([kind, workspace, source, extension, name, event]);
  identityTexts.set(identity, text);
  return text;
}

/** The identity of an item, from its paths without links. */
export function identityOf({ item, workspace, source }: Identified): ItemIdentity {
  const { kind, name, event, extension } = item;
  return { kind, name, event, extension, source, workspace };
}

/** An item and where it lies, without links. */
export interface Identified {
  readonly item: TrustItem;
  readonly workspace: string;
  readonly source: string | undefined;
}

/** The matcher of a hook. */
export function matcherOf({ details }: TrustItem): string | undefined {
  return typeof details?.matcher === 'string' ? details.matcher : undefined;
}

export function formatRecord({ approvals, seen }: TrustRecord): string {
  return `${JSON.stringify({ version: VERSION, approvals, seen: Object.fromEntries(seen) }, null, 2)}\n`;
}

/** Undefined where the text is no record of this version. `dropped` counts entries that say too little to be trusted. */
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
  const { kind, name, workspace, digest, scripts, approvedAt, event, extension, source, matcher } = entry;
  const texts = [kind, name, workspace, digest, approvedAt];
  const mayBeAbsent = [event, extension, source, matcher];
  if (texts.some((text) => typeof text !== 'string') || !/^sha256:[0-9a-f]{64}$/.test(String(digest))) return false;
  return isObject(scripts) && mayBeAbsent.every((text) => text === undefined || typeof text === 'string');
}
