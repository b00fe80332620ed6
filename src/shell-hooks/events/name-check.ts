import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { unknownToolNames } from '../../tools/unknown-tool-names.js';
import { dialectOf } from '../dialects/list.js';
import type { Report } from '../files/diagnostic.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookRegistry } from '../hook/registry.js';
import { namesOf } from '../run/matching.js';
import type { ToolNames } from './hook-event-context.js';

/** What a check looks at. */
export interface NameCheckOptions {
  readonly registry: HookRegistry;
  readonly toolNames: ToolNames;
  readonly report: Report;
}

/** Warns of matchers that name no tool: once for each hook, at the first model call after all loaders. */
export class NameCheck {
  private readonly checked = new WeakSet<ShellHook>();
  private stop: (() => void) | undefined = undefined;

  constructor(
    private readonly host: LoaderHost,
    private readonly options: NameCheckOptions,
  ) {}

  /** Takes up the hooks that are new. */
  update(): void {
    if (this.stop !== undefined || this.unchecked().length === 0) return;
    this.stop = this.host.use({ name: 'shell-hooks:names', beforeModel: (_messages, run) => this.check(run) });
  }

  private unchecked(): readonly ShellHook[] {
    return this.options.registry.list().filter((hook) => hook.names.length > 0 && !this.checked.has(hook));
  }

  private check(run: Pick<RunContext, 'tools'>): void {
    // A run that is going on keeps the lifecycle that was removed.
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
    const message = `Some hooks never run for a tool that they name: ${problems.join(', and ')}.`;
    this.options.report({ level: 'warning', code: 'matcher-unknown', message });
  }

  /** A file of another program names tools that nobody has here; it matters if none of them is here. */
  private unknownNames(hook: ShellHook, tools: readonly { readonly name: string }[]): readonly string[] {
    const { toolNames } = this.options;
    const isForeign = dialectOf(hook.dialect).hasForeignTools === true;
    // Without any name of the host's, the loader has said that its tools are unknown there.
    if (isForeign && Object.keys(toolNames[hook.dialect] ?? {}).length === 0) return [];
    const known = tools.flatMap(({ name }) => namesOf(name, hook, toolNames)).map((name) => ({ name }));
    const unknown = unknownToolNames(hook.names, known);
    return isForeign && unknown.length < hook.names.length ? [] : unknown;
  }
}
