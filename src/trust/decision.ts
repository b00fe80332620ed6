import type { Awaitable } from '../internal/promise.js';
import type { SpawnFailure } from '../process/spawn-failure.js';
import type { BoundFile } from './fingerprint/bound-file.js';
import type { Fingerprint } from './fingerprint/fingerprint.js';
import type { TrustItem, TrustScope } from './item.js';
import type { TrustedLaunch } from './launch.js';

/** Everything that a person has to see before they say yes. Plain data, complete, nothing shortened. */
export interface ApprovalRequest {
  /** `changed`: it was approved before, as something else. */
  readonly why: 'new' | 'changed';
  /** What is stored and compared: a yes is to exactly this. */
  readonly digest: string;
  /** The definition as it was given, texts unexpanded. */
  readonly item: TrustItem;
  readonly workspace: string;
  /** The program that `command` was found to be, without links. */
  readonly executable: string | undefined;
  /** The whole command line: the program as it is named, and each argument. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Every file that is bound. */
  readonly files: readonly BoundFile[];
  /** SHA-256 of the files that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** The same as they were when it was approved before. */
  readonly previousScripts: Readonly<Record<string, string>> | undefined;
  /** Folders that the command line names: what lies in them may change without another question. */
  readonly unbound: readonly string[];
  /** For the user, in words: what the question cannot show. */
  readonly note: string | undefined;
}

/** Asks the user. Only `true` is a yes; the signal fires when nobody waits for the answer any more. */
export type Approver = (request: ApprovalRequest, options: { readonly signal: AbortSignal }) => Awaitable<boolean>;

/** Why an item may be used. */
export type AllowedReason = 'builtin' | 'user' | 'approved' | 'allow-listed';

/**
 * Why it may not: nobody to ask, a no, a no from earlier on, no answer that counts, content that is not what was
 * approved, something that cannot be read, bound or found, or a store that cannot be used.
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

/** It may be used, after `verify`. */
export interface AllowedDecision {
  readonly allowed: true;
  readonly reason: AllowedReason;
  readonly scope: TrustScope;
  readonly item: TrustItem;
  /** What was decided on; absent for what needs no decision. */
  readonly digest: string | undefined;
}

/** It may not be used. */
export interface DeniedDecision {
  readonly allowed: false;
  readonly reason: DeniedReason;
  readonly scope: TrustScope;
  readonly item: TrustItem;
  readonly digest: string | undefined;
  /**
   * Whether it was approved once, as something else, or as just this until the approval was lost: a gate that changed is
   * not a gate that never was.
   */
  readonly approvedBefore: boolean;
  /** The matcher of a hook as it was approved. */
  readonly approvedMatcher?: string | undefined;
  readonly message: string;
  /** What is wrong with its program, with `no-executable`. */
  readonly failure: SpawnFailure | undefined;
}

/** The answer of the gate. */
export type TrustDecision = AllowedDecision | DeniedDecision;

/** An item as it may be used now: at once, and once. */
export interface VerifiedItem extends AllowedDecision {
  /** The folder of its extension; with an approved one of the workspace it is a copy of what was approved. */
  readonly root: string | undefined;
  /** Where it has a command. */
  readonly launch: TrustedLaunch | undefined;
}

const NOT_PLAIN = 'This command line is not plain; the files it runs cannot all be listed.';

/** The request that a fingerprint is shown by. */
export function requestOf(
  fingerprint: Fingerprint,
  previous: Readonly<Record<string, string>> | undefined,
): ApprovalRequest {
  const { item, digest, workspace, executable, cwd, files, scripts, unbound, isPlain } = fingerprint;
  const argv = item.command === undefined ? [] : [item.command, ...(item.args ?? [])];
  const why = previous === undefined ? 'new' : 'changed';
  const note = isPlain ? undefined : NOT_PLAIN;
  const request = { why, digest, item, workspace, cwd, files, scripts, unbound, argv, note } as const;
  // A copy: what an approver does to it changes nothing of what is decided on.
  return structuredClone({ ...request, executable: executable?.realPath, previousScripts: previous });
}

interface Allowance {
  readonly reason: AllowedReason;
  readonly scope: TrustScope;
  readonly digest?: string;
}

/** It may be used. */
export function allow(item: TrustItem, { reason, scope, digest }: Allowance): AllowedDecision {
  return { allowed: true, reason, scope, item, digest };
}

type Denial = Pick<DeniedDecision, 'approvedBefore'> & Partial<DeniedDecision> & { readonly reason: DeniedReason };

const REFUSALS: Readonly<Partial<Record<DeniedReason, string>>> = {
  'no-approver': 'it was not approved, and there is nobody to ask',
  declined: 'the answer was no',
  'approver-failed': 'the approver failed to answer',
  changed: 'it is not what was approved',
};

/** It may not be used, and why. */
export function deny(
  of: Pick<Fingerprint, 'item' | 'scope'> & { digest: string | undefined },
  denial: Denial,
): DeniedDecision {
  const { item, scope, digest } = of;
  const why = denial.message?.replace(/\.$/, '') ?? REFUSALS[denial.reason] ?? denial.reason;
  const message = `The ${item.kind} ${JSON.stringify(item.name)} may not be used: ${why}.`;
  return { failure: undefined, ...denial, allowed: false, scope, item, digest, message };
}
