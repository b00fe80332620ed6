import type { AllowedDecision, DeniedDecision, TrustDecision, VerifiedItem } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import { EXTENSION_PATH, type TrustItem } from '../../trust/item.js';
import { dialectOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookProblem } from '../hook/effects.js';

/** Authorizes each hook once with the trust gate, and verifies it right before each run. */
export class HookApprovals {
  private readonly decisions = new WeakMap<ShellHook, AllowedDecision>();
  /** The latest denial of each hook that would be denied now, for example because its program is missing. */
  private readonly denials = new WeakMap<ShellHook, DeniedDecision>();

  constructor(
    private readonly gate: TrustGate,
    private readonly workspaceDir: string,
  ) {}

  /**
   * Returns true if the matcher and the condition may be tested. Until a workspace hook is approved, its pattern and
   * its condition count as met. Otherwise a changed pattern could switch off a guard.
   */
  mayTest(hook: ShellHook): boolean {
    return hook.scope !== 'workspace' || this.decisions.has(hook);
  }

  /** Authorizes a hook that was not authorized before, which may prompt the user. */
  async authorize(hook: ShellHook): Promise<TrustDecision> {
    const known = this.decisions.get(hook);
    if (known !== undefined) return known;
    const decision = await this.gate.authorize(trustItemOf(hook, this.workspaceDir));
    if (decision.allowed) this.decisions.set(hook, decision);
    else this.denials.set(hook, decision);
    return decision;
  }

  /** Returns the latest denial of the hook; undefined if the hook may run. */
  denial(hook: ShellHook): DeniedDecision | undefined {
    return this.denials.get(hook);
  }

  /** Decides on a hook and updates `denial`. Asks nobody. Returns undefined if the gate has no `check`. */
  async check(hook: ShellHook): Promise<TrustDecision | undefined> {
    const decision = await this.gate.check?.(trustItemOf(hook, this.workspaceDir));
    if (decision !== undefined) this.note(hook, decision);
    return decision;
  }

  /** Returns the program to start, or a denial. The result is valid for one immediate start. */
  async verify(hook: ShellHook): Promise<VerifiedItem | DeniedDecision> {
    const verified = await this.verifyOrAsk(hook);
    this.note(hook, verified);
    return verified;
  }

  private note(hook: ShellHook, decision: TrustDecision): void {
    if (decision.allowed) this.denials.delete(hook);
    else this.denials.set(hook, decision);
  }

  private async verifyOrAsk(hook: ShellHook): Promise<VerifiedItem | DeniedDecision> {
    const known = this.decisions.get(hook);
    const verified = known && (await this.gate.verify(known));
    if (verified?.allowed) return verified;
    // The same digest means that the approval was revoked. Otherwise the hook has changed, and the old decision is kept
    // so that the next check also finds the change.
    const hasChanged = verified !== undefined && (verified.digest === undefined || verified.digest !== known?.digest);
    if (!hasChanged) this.decisions.delete(hook);
    // A revoked or changed hook needs a new approval.
    const decision = await this.gate.authorize(trustItemOf(hook, this.workspaceDir));
    if (!decision.allowed) return hasChanged ? { ...decision, approvedBefore: true } : decision;
    this.decisions.set(hook, decision);
    return this.gate.verify(decision);
  }
}

/**
 * Effect of a denial on the hook. A workspace hook that was never approved is `skipped`; every other denied hook is
 * `failed`.
 */
export interface Denial {
  readonly status: 'failed' | 'skipped';
  readonly problem: HookProblem;
}

/**
 * Returns the status and problem of a denied hook: `not-started` if its program cannot start, `untrusted` if an
 * approval is missing.
 */
export function denialOf(denied: DeniedDecision): Denial {
  const { failure, scope, approvedBefore, reason, message } = denied;
  const isOurs = scope !== 'workspace' || approvedBefore;
  if (failure !== undefined && isOurs) return { status: 'failed', problem: { kind: 'not-started', ...failure } };
  const problem: HookProblem = { kind: 'untrusted', message: `${message} (${reason})`, hint: failure?.hint };
  return { status: isOurs ? 'failed' : 'skipped', problem };
}

/** Returns the path variables of a dialect and their values. */
function folderVariables({ dialect, root }: ShellHook, workspaceDir: string): Record<string, string> {
  const { workspace, package: ofPackage, fixed } = dialectOf(dialect).facts.variables;
  return Object.fromEntries([
    ...workspace.map((name) => [name, workspaceDir]),
    ...Object.entries(fixed ?? {}),
    ...(root === undefined ? [] : ofPackage.map((name) => [name, EXTENSION_PATH])),
  ]);
}

/** Describes a hook for the trust gate. */
export function trustItemOf(hook: ShellHook, workspaceDir: string): TrustItem {
  const { scope, ordinal, event, extension, source, root, shell, reads, files } = hook;
  const { matcher, timeout, onFailure, dialect, dialectEvent, exitCodes, sensitive, condition, background } = hook;
  const { http } = hook;
  const name = ordinal === 1 ? hook.name : `${hook.name}#${ordinal}`;
  const expand = shell ? (text: string) => text : (text: string) => expandFolders(text, hook, workspaceDir);
  const place = { kind: 'hook', scope, name, event, extension, source, root } as const;
  const details = {
    matcher,
    timeout,
    onFailure,
    dialect,
    dialectEvent,
    exitCodes,
    condition,
    background,
    sensitive: sensitive && [...sensitive],
  };
  // The values of the variables are not part of the approval, as with `reads`.
  if (http !== undefined)
    return { ...place, reads: http.variables, details: { ...details, url: hook.command, headers: http.headers } };
  return {
    ...place,
    shell,
    reads,
    files,
    command: expand(hook.command),
    args: hook.args?.map(expand),
    env: { ...folderVariables(hook, workspaceDir), ...hook.env },
    cwd: hook.cwd ?? (dialectOf(dialect).facts.startsIn === 'package' ? undefined : workspaceDir),
    details,
  };
}

/** Replaces path variables in a command line that no shell expands. */
function expandFolders(text: string, hook: ShellHook, workspaceDir: string): string {
  return Object.entries(folderVariables(hook, workspaceDir)).reduce(
    (expanded, [name, folder]) => expanded.replaceAll(`\${${name}}`, () => folder),
    text,
  );
}
