import type { HookRegistration, ShellHook } from '../../shell-hooks/hook/definition.js';
import type { HookRegistry } from '../../shell-hooks/hook/registry.js';
import type { ExtensionPackage } from '../extension.js';

/** The hooks of one extension. */
export interface ExtensionHooks {
  readonly extension: ExtensionPackage;
  readonly hooks: readonly HookRegistration[];
}

interface Registered {
  readonly key: string;
  readonly extension: string;
  readonly hook: ShellHook;
}

/** Keeps a registry in step with the extensions that are active. */
export class InstalledHooks {
  private registered: readonly Registered[] = [];

  constructor(readonly registry: HookRegistry) {}

  /** Registers hooks, which were checked, behind those that are there. */
  add({ extension, hooks }: ExtensionHooks): void {
    this.registered = [...this.registered, ...hooks.map((hook) => this.register(extension, hook))];
  }

  /** Takes the hooks of an extension out: none of them starts again. */
  remove(extension: string): void {
    this.withdraw(this.registered.filter((entry) => entry.extension === extension));
  }

  /** Registers just these, in this order. What stands in its place already is not touched. */
  replace(wanted: readonly ExtensionHooks[]): void {
    const keys = wanted.flatMap(({ hooks }) => hooks.map(keyOf));
    const changed = this.registered.findIndex(({ key }, index) => key !== keys[index]);
    const kept = changed < 0 ? this.registered.length : changed;
    const gone = this.registered.slice(kept);
    let at = 0;
    for (const { extension, hooks } of wanted) {
      const fresh = hooks.filter((_, index) => at + index >= kept);
      at += hooks.length;
      if (fresh.length > 0) this.add({ extension, hooks: fresh });
    }
    // The new ones first: a run that is going on is never without its guards.
    this.withdraw(gone);
  }

  private withdraw(gone: readonly Registered[]): void {
    for (const { hook } of gone) this.registry.unregister(hook.id);
    const left = new Set(gone);
    this.registered = this.registered.filter((entry) => !left.has(entry));
  }

  private register({ name }: ExtensionPackage, registration: HookRegistration): Registered {
    return { key: keyOf(registration), extension: name, hook: this.registry.register(registration) };
  }
}

function keyOf(hook: HookRegistration): string {
  return JSON.stringify(hook);
}
