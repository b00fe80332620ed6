import { join } from 'node:path';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import type { ManifestDiagnostic } from '../../internal/problem.js';
import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import { type McpServers, mcpServers } from '../../mcp/mcp.js';
import { realLocation } from '../../process/files/location.js';
import { type ShellHooks, shellHooks } from '../../shell-hooks/loader.js';
import { SkillRegistry } from '../../skills/registry.js';
import type { StandaloneSkills } from '../../skills/standalone.js';
import { skillLifecycle } from '../../skills/tool.js';
import { createTrustGate, type TrustGate } from '../../trust/gate.js';
import { type ChoiceOwner, EnableState, STATE_FILE } from '../enable-state.js';
import type { Extension } from '../extension.js';
import type { ManifestSettings } from '../options.js';
import { redactingHost } from '../settings/redacting-host.js';
import { Redactor } from '../settings/redactor.js';
import { ActiveExtensions } from './active-extensions.js';
import { InstalledHooks } from './installed-hooks.js';
import { InstalledServers } from './installed-servers.js';
import { extensionLifecycle } from './lifecycle.js';

/** What the extensions of an agent are put together from. */
export class ManifestParts {
  readonly redactor = new Redactor();
  readonly skills = new SkillRegistry();
  readonly gate: TrustGate;
  readonly shell: ShellHooks;
  readonly mcp: McpServers;
  readonly active: ActiveExtensions;
  readonly state: EnableState;
  readonly diagnostics: ManifestDiagnostic[] = [];
  standalone: StandaloneSkills = { entries: [], denied: [], diagnostics: [] };
  private logger: Logger;
  private host: LoaderHost | undefined = undefined;
  private removeEffects: (() => void) | undefined = undefined;
  /** Choices that are not stored yet, or could not be. */
  private readonly chosen = new Map<string, boolean>();
  private storing: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: ManifestSettings) {
    const { workspaceDir, appName, userDir, env } = settings;
    this.logger = this.redactor.logger(settings.logger ?? consoleLogger);
    this.gate = settings.gate ?? this.createGate();
    const { gate } = this;
    this.shell = settings.hooks ?? shellHooks({ workspaceDir, appName, gate, redact: this.redact });
    this.mcp = settings.mcp ?? mcpServers({ gate, system: { env } });
    this.state = new EnableState(join(userDir, STATE_FILE));
    const hooks = new InstalledHooks(this.shell.registry);
    this.active = new ActiveExtensions(hooks, new InstalledServers(this.mcp, { workspaceDir, report: this.report }));
  }

  /** For what hooks write. */
  readonly redact = (text: string): string => this.redactor.values(text);

  /** Logs a diagnostic, and keeps it for `status()`. */
  readonly report = (diagnostic: ManifestDiagnostic): void => {
    this.diagnostics.push(diagnostic);
    this.logger[diagnostic.level === 'error' ? 'error' : 'warn'](diagnostic.message, diagnostic);
  };

  async load(host: LoaderHost): Promise<void> {
    this.logger = this.redactor.logger(this.settings.logger ?? host.logger);
    const quiet = redactingHost(host, this.redactor, this.logger);
    await this.shell.load(quiet);
    await this.mcp.load(quiet);
    this.host = host;
    if (this.settings.skillTool !== false) host.use(skillLifecycle(this.skills, this.settings.skillTool));
  }

  async close(): Promise<void> {
    await this.storing;
    await this.shell.close?.();
    await this.mcp.close();
  }

  /** Whether an extension is on, whatever else it may lack. */
  isWanted(extension: Extension): boolean {
    const { name } = extension;
    const choice = this.chosen.get(name) ?? this.state.choiceOf(this.ownerOf(extension), name);
    return choice ?? (this.settings.autoEnable && !this.state.isLost);
  }

  /**
   * Takes a choice at once, and stores it behind those before it. One to turn on that cannot be stored does not hold;
   * one to turn off does, also then.
   */
  choose(extension: Extension, isOn: boolean): Promise<void> {
    const { name } = extension;
    const before = this.chosen.get(name);
    this.chosen.set(name, isOn);
    const stored = this.storing.then(() => this.state.choose(this.ownerOf(extension), name, isOn));
    const settle = (kept: boolean | undefined) => {
      if (this.chosen.get(name) !== isOn) return;
      if (kept === undefined) this.chosen.delete(name);
      else this.chosen.set(name, kept);
    };
    this.storing = stored.then(
      () => settle(undefined),
      () => settle(isOn ? before : isOn),
    );
    return stored;
  }

  /** Reads the choices, behind those that are being stored. Resolves with what is wrong with their file, if anything. */
  readChoices(): Promise<string | undefined> {
    const read = this.storing.then(() => this.state.load());
    this.storing = read;
    return read;
  }

  /** Brings the skills and the instructions in step with the extensions that are active. */
  publish(): void {
    const active = this.active.list();
    this.skills.replace([...active.flatMap(({ texts }) => texts.skills), ...this.standalone.entries]);
    const effects = extensionLifecycle({
      contexts: active.map(({ texts }) => texts.context).filter((text) => text !== ''),
      excludedTools: new Set(active.flatMap(({ extension }) => extension.excludedTools)),
    });
    if (effects === undefined) this.removeEffects?.();
    this.removeEffects = effects && this.host?.use(effects, this.removeEffects);
  }

  get pendingSkills(): readonly string[] {
    return this.standalone.denied;
  }

  /** By whatever link one comes to a workspace, it is the same. */
  private ownerOf({ scope }: Extension): ChoiceOwner {
    return scope === 'user' ? 'user' : { workspace: realLocation(this.settings.workspaceDir) };
  }

  private createGate(): TrustGate {
    const { workspaceDir, appName, userDir, approve, approveTimeoutMs, allow, env } = this.settings;
    const told: Logger = {
      debug: (message, details) => this.logger.debug(message, details),
      info: (message, details) => this.logger.info(message, details),
      warn: (message, details) => this.logger.warn(message, details),
      error: (message, details) => this.logger.error(message, details),
    };
    return createTrustGate({
      ...{ workspaceDir, appName, stateDir: userDir, approve, approveTimeoutMs, allow, path: env.PATH, logger: told },
    });
  }
}
