import { isGateEvent } from '../programs/hook-event.js';
import type { DeniedDecision } from '../trust/decision.js';
import type { ShellHook } from './hook/definition.js';
import type { HookDiagnostic } from './hook/diagnostic.js';
import type { HookRegistry } from './hook/registry.js';

/** A hook of a file that could refuse something, and whether it does. */
export interface GuardStatus {
  /** Name of the hook. Of a guard that could not be read, the path of its file. */
  readonly name: string;
  /** Undefined if the guard could not be read. */
  readonly event?: string | undefined;
  readonly source?: string | undefined;
  readonly extension?: string | undefined;
  /**
   * `active`: it runs where its matcher says. `in-doubt`: it runs for every tool. `blocked`: it is not approved, has
   * changed, has no program, or belongs to a package that is not active. `error`: it never runs.
   */
  readonly state: 'active' | 'in-doubt' | 'blocked' | 'error';
  /** Why it is not `active`. */
  readonly reason?: string | undefined;
}

/** Facts about hooks that other parts know. */
export interface GuardFacts {
  readonly registry: HookRegistry;
  /** Returns the denial of a hook; undefined if it is allowed. Asks nobody. */
  readonly denialOf: (hook: ShellHook) => Promise<DeniedDecision | undefined>;
  /** True if the hook has been allowed since. */
  readonly isAllowed: (hook: ShellHook) => boolean;
  /** Returns why the matcher of a hook selects no tool; undefined if it selects one, or if that is not known. */
  readonly deadReason: (hook: ShellHook) => string | undefined;
  readonly diagnostics: () => readonly HookDiagnostic[];
}

/** Codes of diagnostics about hooks that were left out. */
const LEFT_OUT = [
  'event-unsupported',
  'event-unknown',
  'file-unreadable',
  'hook-invalid',
  'hook-unsupported',
  'hooks-invalid',
];

/** Accounts for every guard that was found in a file. */
export class Guards {
  private denials = new Map<string, string>();

  constructor(private readonly facts: GuardFacts) {}

  /** Finds out which guards are approved. Asks nobody. */
  async update(): Promise<void> {
    const guards = this.hooks();
    const found = await Promise.all(guards.map((hook) => this.facts.denialOf(hook)));
    this.denials = new Map(
      guards.flatMap(({ id }, at) => {
        const { message, reason } = found[at] ?? {};
        return message === undefined ? [] : [[id, `${message} (${reason})`]];
      }),
    );
  }

  list(): readonly GuardStatus[] {
    const lost = this.facts.diagnostics().filter(({ level, code }) => level === 'error' && LEFT_OUT.includes(code));
    return [
      ...this.hooks().map((hook) => this.statusOf(hook)),
      ...lost.map(
        ({ message, hook, source }): GuardStatus => ({
          ...{ name: hook ?? source ?? '(hooks)', source, state: 'error', reason: message },
        }),
      ),
    ];
  }

  /** The hooks of files that can refuse something. Hooks of the host are left out. */
  private hooks(): readonly ShellHook[] {
    return this.facts.registry.list().filter(({ event, scope }) => scope !== 'builtin' && isGateEvent(event));
  }

  private statusOf(hook: ShellHook): GuardStatus {
    const { id, name, event, source, extension, pattern, background } = hook;
    const guard = { name, event, source, extension };
    const denial = this.facts.isAllowed(hook) ? undefined : this.denials.get(id);
    const dead = background ? 'nobody waits for its answer, so it refuses nothing' : this.facts.deadReason(hook);
    if (denial !== undefined) return { ...guard, state: 'blocked', reason: denial };
    if (dead !== undefined) return { ...guard, state: 'error', reason: dead };
    if (pattern?.doubt !== undefined) return { ...guard, state: 'in-doubt', reason: pattern.doubt };
    return { ...guard, state: 'active' };
  }
}
