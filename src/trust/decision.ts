import type { Awaitable } from '../internal/promise.js';
import type { SpawnFailure } from '../process/spawn-failure.js';
import type { BoundFile } from './fingerprint/bound-file.js';
import type { Fingerprint } from './fingerprint/fingerprint.js';
import type { TrustItem, TrustScope } from './item.js';
import type { TrustedLaunch } from './launch.js';

/**
 * Everything that a person must see before approving an item. Plain data, never shortened. The request for an extension
 * package has the kind `extension` and lists its parts.
 */
export interface ApprovalRequest extends ApprovalPart {
  /** The hooks, servers, settings and texts of an extension package that are not approved yet. Empty for a single item. */
  readonly parts: readonly ApprovalPart[];
}

/** One item of a request. */
export interface ApprovalPart {
  /** `changed` means that the item was approved before with other content. */
  readonly why: 'new' | 'changed';
  /** The fingerprint of the item. An approval is valid for this fingerprint only. */
  readonly digest: string;
  /** The definition of the item, with variables not expanded. */
  readonly item: TrustItem;
  readonly workspace: string;
  /** The program that `command` resolves to, with links followed. */
  readonly executable: string | undefined;
  /** The command line: the command as written, then each argument. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Every file whose content is part of the fingerprint. */
  readonly files: readonly BoundFile[];
  /** SHA-256 of the files that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** The hashes of the scripts when the item was last approved. */
  readonly previousScripts: Readonly<Record<string, string>> | undefined;
  /**
   * Directories that the command line names. Their content is not part of the fingerprint and may change without a new
   * prompt.
   */
  readonly unbound: readonly string[];
  /** Says which files the approval of a command line does not cover. Undefined for an item without a command. */
  readonly note: string | undefined;
}

/**
 * Asks the user about an item. Only `true` approves. For a request with parts, `{ declined }` approves all other parts.
 * The signal aborts when the answer is no longer needed.
 */
export type Approver = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => Awaitable<boolean | PartialApproval>;

/** The answer to a request with parts, if the user declines some of them. */
export interface PartialApproval {
  /** The `digest` of each declined part. */
  readonly declined: readonly string[];
}

/** The reason why an item may be used. */
export type AllowedReason = 'builtin' | 'user' | 'approved' | 'allow-listed';

/**
 * The reason why an item is denied.
 *
 * `no-approver`: not approved, and no approver is set. `declined`: the user refused. `approver-failed`: no valid
 * answer. `changed`: the content is not what was approved. `unreadable`, `outside`, `too-large`, `invalid`: no
 * fingerprint can be computed. `no-executable`: the program is missing. `store-failed`: the approval file cannot be
 * used.
 */
export type DeniedReason =
  | 'no-approver'
  | 'declined'
  | 'approver-failed'
  | 'changed'
  | 'unreadable'
  | 'outside'
  | 'too-large'
  | 'invalid'
  | 'no-executable'
  | 'store-failed';

/** The item may be used, after `verify`. */
export interface AllowedDecision {
  readonly allowed: true;
  readonly reason: AllowedReason;
  readonly scope: TrustScope;
  readonly item: TrustItem;
  /** The approved fingerprint. Undefined for items that need no approval. */
  readonly digest: string | undefined;
}

/** The item must not be used. */
export interface DeniedDecision {
  readonly allowed: false;
  readonly reason: DeniedReason;
  readonly scope: TrustScope;
  readonly item: TrustItem;
  readonly digest: string | undefined;
  /**
   * True if the item was approved before, with this or other content. So an application can treat a changed guard with
   * more caution than a guard that never ran.
   */
  readonly approvedBefore: boolean;
  readonly message: string;
  /** The problem with the program, or the reason why the machine is out of resources. */
  readonly failure: SpawnFailure | undefined;
}

const APPROVABLE: readonly DeniedReason[] = ['no-approver', 'declined', 'approver-failed', 'changed'];

/** True if an approval is missing. False if the gate cannot check the item, so that nobody is asked about it. */
export function isApprovable({ reason }: DeniedDecision): boolean {
  return APPROVABLE.includes(reason);
}

/** A decision of the gate. */
export type TrustDecision = AllowedDecision | DeniedDecision;

/** A verified item. Valid for one use, right away. */
export interface VerifiedItem extends AllowedDecision {
  /** The directory of the extension package. For the workspace, this is a copy of the approved content. */
  readonly root: string | undefined;
  /** Set for items with a command. */
  readonly launch: TrustedLaunch | undefined;
}

const PLAIN_WORDS =
  'You are asked again if a file of the workspace that the command line names literally changes. Changes to other files that it runs are not detected.';

/** Creates the approval request for a fingerprint. */
export function requestOf(
  fingerprint: Fingerprint,
  previous: Readonly<Record<string, string>> | undefined,
): ApprovalRequest {
  const { item, digest, workspace, executable, cwd, files, scripts, unbound } = fingerprint;
  const argv = item.command === undefined ? [] : [item.command, ...(item.args ?? [])];
  const why = previous === undefined ? 'new' : 'changed';
  const note = item.command === undefined ? undefined : PLAIN_WORDS;
  const request = { why, digest, item, workspace, cwd, files, scripts, unbound, argv, note } as const;
  // A copy, so that an approver cannot change what is approved.
  return structuredClone({ ...request, executable: executable?.realPath, previousScripts: previous, parts: [] });
}

export function requestOfParts(whole: Fingerprint, requests: readonly ApprovalRequest[]): ApprovalRequest {
  const parts = requests.map(({ parts: _none, ...part }): ApprovalPart => part);
  const previous = parts.flatMap(({ previousScripts = {} }) => Object.entries(previousScripts));
  return {
    ...requestOf(whole, undefined),
    why: parts.some(({ why }) => why === 'changed') ? 'changed' : 'new',
    scripts: Object.fromEntries(parts.flatMap(({ scripts }) => Object.entries(scripts))),
    previousScripts: previous.length === 0 ? undefined : Object.fromEntries(previous),
    unbound: [...new Set(parts.flatMap(({ unbound }) => unbound))].sort(),
    parts,
  };
}

export function allow(
  item: TrustItem,
  allowance: Pick<AllowedDecision, 'reason' | 'scope'> & { readonly digest?: string },
): AllowedDecision {
  return { digest: undefined, ...allowance, allowed: true, item };
}

/** Messages of the reasons that need no other explanation. */
const REFUSALS: Readonly<Partial<Record<DeniedReason, string>>> = {
  'no-approver': 'it is not approved, and no approver is set',
  declined: 'the user declined',
  'approver-failed': 'the approver did not return `true` or `false` in time',
  changed: 'its content is not what was approved',
};

type Denial = Pick<DeniedDecision, 'reason' | 'approvedBefore'> & Partial<Pick<DeniedDecision, 'message' | 'failure'>>;

/** Creates a decision that denies an item, with a message. */
export function deny(
  { item, scope, digest }: Pick<DeniedDecision, 'item' | 'scope' | 'digest'>,
  { reason, approvedBefore, message = REFUSALS[reason] ?? reason, failure }: Denial,
): DeniedDecision {
  const why = message.replace(/\.$/, '');
  const text = `The ${item.kind} ${JSON.stringify(item.name)} may not be used: ${why}.`;
  return { allowed: false, reason, approvedBefore, failure, scope, item, digest, message: text };
}
