import { namesText } from '../../internal/names-text.js';
import { diagnosticOf, type ManifestDiagnostic } from '../../internal/problem.js';
import { isAside } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { Message } from '../../model/message.js';
import type { HookRunner } from '../../shell-hooks/run/runner.js';
import type { Tool } from '../../tools/tool.js';
import type { ExtensionPackage } from '../extension.js';
import type { PreparedExtension } from './preparation.js';

/** Effects of active extension packages on a run, besides hooks, servers and skills. */
export interface ExtensionEffects {
  /** Texts that are added to the system instructions. */
  readonly contexts: readonly string[];
  /** Returns the tools that are not hidden from the model. */
  readonly visible: (tools: readonly Tool[]) => readonly Tool[];
}

/**
 * Returns a lifecycle that adds the texts and hides the tools. It calls `current` for each model call, because the
 * effects may change during a run.
 */
export function extensionLifecycle(current: () => ExtensionEffects): AgentLifecycle {
  return {
    name: 'extensions',
    wrapModelCall(request, next) {
      const text = current().contexts.join('\n\n');
      if (text === '' || isAside(request)) return next(request);
      return next({ ...request, messages: withInstructions(request.messages, text) });
    },
    beforeToolSelection(tools) {
      const visible = current().visible(tools);
      return visible.length === tools.length ? undefined : visible;
    },
  };
}

function withInstructions(messages: readonly Message[], content: string): readonly Message[] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const index = first < 0 ? messages.length : first;
  return [...messages.slice(0, index), { role: 'system', content }, ...messages.slice(index)];
}

/**
 * The tools that active extension packages hide from the model. A package may use the tool names of the program whose
 * manifest format it has.
 */
export class HiddenTools {
  private readonly hiding: readonly PreparedExtension[];
  private isChecked = false;

  constructor(
    active: readonly PreparedExtension[],
    private readonly names: Pick<HookRunner, 'namesOf'>,
  ) {
    this.hiding = active.filter(({ texts }) => texts.excludedTools.length > 0);
  }

  get isEmpty(): boolean {
    return this.hiding.length === 0;
  }

  rest(tools: readonly Tool[]): readonly Tool[] {
    return tools.filter((tool) => !this.hiding.some((prepared) => this.hides(prepared, tool)));
  }

  /**
   * Returns a warning for each extension package that hides none of the tools. Only the first call checks the tools;
   * later calls return no warning.
   */
  check(tools: () => readonly Tool[]): readonly ManifestDiagnostic[] {
    if (this.isChecked) return [];
    this.isChecked = true;
    const known = tools();
    return this.hiding
      .filter((prepared) => !known.some((tool) => this.hides(prepared, tool)))
      .map(({ extension, texts }) => hidesNothing(extension, texts.excludedTools));
  }

  private hides({ extension: { format: dialect }, texts }: PreparedExtension, { name }: Tool): boolean {
    return this.names.namesOf(name, { dialect }).some((known) => texts.excludedTools.includes(known));
  }
}

function hidesNothing({ name: extension, source }: ExtensionPackage, tools: readonly string[]): ManifestDiagnostic {
  const message = `it hides nothing: no tool is named ${namesText(tools)}. If a tool has another name here, map the name in \`toolNames\` of the shell hooks`;
  return diagnosticOf('warning', { extension, source }, [{ path: 'excludeTools', message }]);
}
