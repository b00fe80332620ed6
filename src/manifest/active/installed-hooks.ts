import type { HookRegistration, ShellHook } from '../../shell-hooks/hook/definition.js';
import type { HookRegistry } from '../../shell-hooks/hook/registry.js';

interface Registered {
  readonly key: string;
  readonly hook: ShellHook;
}

/** Keeps a registry in step with the extensions that are active. */
export class InstalledHooks {
  private registered: readonly Registered[] = [];

  constructor(readonly registry: HookRegistry) {}

  /** Registers hooks, which were checked, behind those that are there. */
  add(hooks: readonly HookRegistration[]): void {
    const added = hooks.map((hook) => ({ key: JSON.stringify(hook), hook: this.registry.register(hook) }));
    this.registered = [...this.registered, ...added];
  }

  /** Takes the hooks of an extension out: none of them starts again. */
  remove(extension: string): void {
    this.withdraw(this.registered.filter(({ hook }) => hook.extension === extension));
  }

  /** Registers just these, in this order. A hook that is in its place already is not touched. */
  replace(wanted: readonly HookRegistration[]): void {
    const changed = this.registered.findIndex(({ key }, index) => key !== JSON.stringify(wanted[index]));
    const kept = changed < 0 ? this.registered.length : changed;
    const gone = this.registered.slice(kept);
    // The new ones first: a run that is going on is never without its guards.
    this.add(wanted.slice(kept));
    this.withdraw(gone);
  }

  private withdraw(gone: readonly Registered[]): void {
    for (const { hook } of gone) this.registry.unregister(hook.id);
    this.registered = this.registered.filter((entry) => !gone.includes(entry));
  }
}
