import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { unknownToolNames } from '../../tools/unknown-tool-names.js';
import { dialectOf } from '../dialects/list.js';
import type { Report } from '../files/diagnostic.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookRegistry } from '../hook/registry.js';
import { namesOf } from '../run/matching.js';
import type { ToolNames } from './hook-event-context.js';

/** Options of a `NameCheck`. */
export interface NameCheckOptions {
  readonly registry: HookRegistry;
  readonly toolNames: ToolNames;
  readonly report: Report;
}

/**
 * Warns about matchers that contain unknown tool names. Checks each hook once, at the first model call after all
 * loaders.
 */
export class NameCheck {
  private readonly checked = new WeakSet<ShellHook>();
  private stop: (() => void) | undefined = undefined;

  constructor(
    private readonly host: LoaderHost,
    private readonly options: NameCheckOptions,
  ) {}

  /** Schedules a check if the registry contains hooks that were not checked yet. */
  update(): void {
    if (this.stop !== undefined || this.unchecked().length === 0) return;
    this.stop = this.host.use({ name: 'shell-hooks:names', beforeModel: (_messages, run) => this.check(run) });
  }

  private unchecked(): readonly ShellHook[] {
    return this.options.registry.list().filter((hook) => hook.names.length > 0 && !this.checked.has(hook));
  }

  private check(run: Pick<RunContext, 'tools'>): void {
    // A run in progress still calls the hooks of this lifecycle after `stop` has removed it.
    if (this.stop === undefined) return;
    this.stop();
    this.stop = undefined;
    const tools = [...this.host.tools(), ...run.tools];
    const problems = this.unchecked().flatMap((hook) => {
      this.checked.add(hook);
      const unknown = this.unknownNames(hook, tools);
      return unknown.length === 0 ? [] : [`the matcher of hook "${hook.name}": ${unknown.join('; ')}`];
    });
    if (problems.length === 0) return;
    const message = `Some hooks name unknown tools: ${problems.join(', and ')}.`;
    this.options.report({ level: 'warning', code: 'matcher-unknown', message });
  }

  /**
   * Returns a message for each unknown tool name of a hook. A hook of another program may name tools that do not exist
   * here, so it is reported only if all its names are unknown.
   */
  private unknownNames(hook: ShellHook, tools: readonly { readonly name: string }[]): readonly string[] {
    const { toolNames } = this.options;
    const isForeign = dialectOf(hook.dialect).hasForeignTools === true;
    // Without names in `toolNames`, the loader has already reported `tools-unnamed`.
    if (isForeign && Object.keys(toolNames[hook.dialect] ?? {}).length === 0) return [];
    const known = tools.flatMap(({ name }) => namesOf(name, hook, toolNames)).map((name) => ({ name }));
    const unknown = unknownToolNames(hook.names, known);
    return isForeign && unknown.length < hook.names.length ? [] : unknown;
  }
}
