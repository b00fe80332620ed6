import type { HookRegistration, ShellHook } from '../../shell-hooks/hook/definition.js';
import type { PresentHooks } from '../../shell-hooks/hook/ordinals.js';
import type { HookRegistry } from '../../shell-hooks/hook/registry.js';

/** Registers the hooks of active extension packages in a hook registry. */
export class InstalledHooks {
  private registered: readonly ShellHook[] = [];

  constructor(readonly registry: HookRegistry) {}

  /** Registers validated hooks after the existing ones. */
  add(hooks: readonly HookRegistration[]): void {
    this.registered = [...this.registered, ...hooks.map((hook) => this.registry.register(hook))];
  }

  /** Unregisters the hooks of an extension package. None of them starts again. */
  remove(extension: string): void {
    const removed = this.registered.filter((hook) => hook.extension === extension);
    for (const { id } of removed) this.registry.unregister(id);
    this.registered = this.registered.filter((hook) => !removed.includes(hook));
  }

  /** Registers exactly these hooks, in this order. An unchanged hook stays registered. Returns the registered hooks. */
  replace(wanted: readonly HookRegistration[]): readonly ShellHook[] {
    const ids = this.registered.map(({ id }) => id);
    this.registered = this.registry.replace(ids, wanted);
    return this.registered;
  }

  list(): readonly ShellHook[] {
    return this.registered;
  }

  /** Returns the hooks of an extension package that are in the registry now. Other code may have added some of them. */
  presentOf(extension: string): PresentHooks {
    const replaced = this.registered.filter((hook) => hook.extension === extension);
    const all = this.registry.list().filter((hook) => hook.extension === extension);
    return { replaced, others: all.filter((hook) => !replaced.includes(hook)) };
  }
}
