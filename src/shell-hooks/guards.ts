import { isGateEvent } from '../programs/hook-event.js';
import type { NameCheck } from './events/name-check.js';
import type { ShellHook } from './hook/definition.js';
import type { Diagnostics } from './hook/diagnostic.js';
import type { HookSystem } from './run/system.js';

/** A hook from a file, at an event where a hook can refuse, and its state. */
export interface GuardStatus {
  /** Name of the hook. For a guard that could not be read and has no name, the path of its file. */
  readonly name: string;
  /** Undefined if the guard could not be read. */
  readonly event?: string | undefined;
  readonly source?: string | undefined;
  readonly extension?: string | undefined;
  /**
   * `active`: it runs at each event that its matcher selects. `in-doubt`: it runs for every tool. `blocked`: it is not
   * approved, has changed, has no program, or belongs to a package that is not active or a runtime that is closed.
   * `error`: it never runs.
   */
  readonly state: 'active' | 'in-doubt' | 'blocked' | 'error';
  /** Why it is not `active`. */
  readonly reason?: string | undefined;
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

/** Lists every guard that was found in a file, with its state. Includes guards that could not be read. */
export class Guards {
  constructor(
    private readonly system: HookSystem,
    private readonly nameCheck: NameCheck,
    private readonly diagnostics: Diagnostics,
  ) {}

  /** Finds out which guards are approved. Asks nobody. */
  async update(): Promise<void> {
    await Promise.all(this.hooks().map((hook) => this.system.approvals.check(hook)));
  }

  list(): readonly GuardStatus[] {
    const lost = this.diagnostics.list().filter(({ level, code }) => level === 'error' && LEFT_OUT.includes(code));
    return [
      ...this.hooks().map((hook) => this.statusOf(hook)),
      ...lost.map(({ message: reason, hook, source }): GuardStatus => {
        return { name: hook ?? source ?? '(hooks)', source, state: 'error', reason };
      }),
    ];
  }

  /**
   * Returns the hooks from files at events where a hook can refuse, such as before a tool call. Omits hooks of the
   * host.
   */
  private hooks(): readonly ShellHook[] {
    return this.system.registry.list().filter(({ event, scope }) => scope !== 'builtin' && isGateEvent(event));
  }

  private statusOf(hook: ShellHook): GuardStatus {
    const { name, event, source, extension, pattern, background } = hook;
    const guard = { name, event, source, extension };
    const { approvals, queue } = this.system;
    const denial = approvals.denial(hook);
    const dead = background ? 'nobody waits for its answer, so it refuses nothing' : this.nameCheck.deadReason(hook);
    if (denial !== undefined) return { ...guard, state: 'blocked', reason: `${denial.message} (${denial.reason})` };
    if (queue.isClosed) return { ...guard, state: 'blocked', reason: 'the runtime is closed' };
    if (dead !== undefined) return { ...guard, state: 'error', reason: dead };
    if (pattern?.unsupported !== undefined) return { ...guard, state: 'in-doubt', reason: pattern.unsupported };
    return { ...guard, state: 'active' };
  }
}
