import { describeError } from '../../errors.js';
import { type Changes, changesBetween } from '../../internal/changes.js';
import type { HookRegistration } from '../hook/definition.js';
import type { HookContent, Report } from '../hook/diagnostic.js';
import { comparedHook } from '../hook/identity.js';
import type { HookRegistry } from '../hook/registry.js';
import { resolveHook } from '../hook/resolve-hook.js';
import type { ShellHooksSettings } from '../options.js';
import { type HookFile, readHookFile, standardFiles } from './hook-file.js';

/** Loads the hooks of files into a registry, and replaces them at each reload. */
export class FileHooks {
  /** The `hooks.timeout` that the files set. */
  timeout: number | undefined = undefined;
  private ids: readonly string[] = [];
  /** Last readable content of each discovered file, by file path. */
  private readonly contents = new Map<string, HookContent>();

  constructor(
    private readonly settings: ShellHooksSettings,
    private readonly registry: HookRegistry,
    private readonly report: Report,
  ) {}

  /** Reads all files, and replaces the hooks of the last call. Changes nothing if a file of `files` is unreadable. */
  async read(): Promise<Changes> {
    const { settings, registry, report } = this;
    const found = (await Promise.all(settings.discover.map((dialect) => standardFiles(dialect, settings)))).flat();
    const contents: HookContent[] = [];
    // Hooks of the user run before hooks of the workspace.
    for (const scope of ['user', 'workspace'] as const) {
      for (const file of found) if (file.scope === scope) contents.push(await this.readDiscovered(file));
    }
    const { workspaceDir } = settings;
    for (const file of settings.files) contents.push(await readHookFile(file, { workspaceDir, report }));
    const before = registry.list().filter(({ id }) => this.ids.includes(id));
    const wanted = contents.flatMap(({ hooks }) => hooks).filter((hook) => this.isUsable(hook));
    const after = registry.replace(this.ids, wanted);
    this.ids = after.map(({ id }) => id);
    this.timeout = contents.findLast(({ timeout }) => timeout !== undefined)?.timeout;
    return changesBetween(before.map(comparedHook), after.map(comparedHook));
  }

  /** Reports an unreadable file and returns its last readable content. */
  private async readDiscovered(file: HookFile): Promise<HookContent> {
    const { report } = this;
    try {
      const content = await readHookFile(file, { workspaceDir: this.settings.workspaceDir, report });
      this.contents.set(file.path, content);
      return content;
    } catch (error) {
      report({ level: 'error', code: 'file-unreadable', message: describeError(error), source: file.path });
      return this.contents.get(file.path) ?? { hooks: [] };
    }
  }

  /** Reports an invalid hook and returns false. Other hooks of the same file stay valid. */
  private isUsable(hook: HookRegistration): boolean {
    try {
      resolveHook(hook, 'unregistered');
      return true;
    } catch (error) {
      const { name, source } = hook;
      this.report({ level: 'error', code: 'hook-invalid', message: describeError(error), hook: String(name), source });
      return false;
    }
  }
}
