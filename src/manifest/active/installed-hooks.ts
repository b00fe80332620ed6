import type { HookRegistration, ShellHook } from '../../shell-hooks/hook/definition.js';
import type { HookRegistry } from '../../shell-hooks/hook/registry.js';

/** Keeps a registry in step with the extensions that are active. */
export class InstalledHooks {
  private registered: readonly ShellHook[] = [];

  constructor(readonly registry: HookRegistry) {}

  /** Registers hooks, which were checked, behind those that are there. */
  add(hooks: readonly HookRegistration[]): void {
    this.registered = [...this.registered, ...hooks.map((hook) => this.registry.register(hook))];
  }

  /** Takes the hooks of an extension out: none of them starts again. */
  remove(extension: string): void {
    const gone = this.registered.filter((hook) => hook.extension === extension);
    for (const { id } of gone) this.registry.unregister(id);
    this.registered = this.registered.filter((hook) => !gone.includes(hook));
  }

  /** Registers just these, in this order. A hook that has not changed stays registered. Returns the hooks. */
  replace(wanted: readonly HookRegistration[]): readonly ShellHook[] {
    const ids = this.registered.map(({ id }) => id);
    this.registered = this.registry.replace(ids, wanted);
    return this.registered;
  }

  list(): readonly ShellHook[] {
    return this.registered;
  }
}
