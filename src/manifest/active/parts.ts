import { consoleLogger, type Logger } from '../../internal/logger.js';
import type { LoaderHost } from '../../lifecycle/lifecycle.js';
import { type McpServers, mcpServers } from '../../mcp/mcp.js';
import { type ShellHooks, shellHooks } from '../../shell-hooks/loader.js';
import type { LoadedSkills } from '../../skills/load-skills.js';
import { SkillRegistry } from '../../skills/registry.js';
import type { SkillEntry } from '../../skills/skill.js';
import { skillLifecycle } from '../../skills/tool.js';
import type { Tool } from '../../tools/tool.js';
import { createTrustGate, type TrustGate } from '../../trust/gate.js';
import { DiagnosticLog } from '../diagnostic-log.js';
import { EnableChoices } from '../enable-choices.js';
import type { ManifestSettings } from '../options.js';
import { Redactor } from '../settings/redactor.js';
import { InstalledServers } from './installed-servers.js';
import { type ExtensionEffects, extensionLifecycle, HiddenTools } from './lifecycle.js';
import type { PreparedExtension } from './preparation.js';

/** Creates and connects the gate, hooks, servers, skills and extension packages of one agent. */
export class ManifestParts {
  readonly redactor = new Redactor();
  readonly skills = new SkillRegistry();
  readonly gate: TrustGate;
  readonly shell: ShellHooks;
  readonly mcp: McpServers;
  readonly servers: InstalledServers;
  readonly choices: EnableChoices;
  standalone: LoadedSkills = { entries: [], denied: [], diagnostics: [] };
  private target: Logger;
  private readonly logger = this.redactor.logger(() => this.target);
  readonly diagnostics = new DiagnosticLog(this.logger);
  private host: LoaderHost | undefined = undefined;
  private effects: ExtensionEffects = { contexts: [], visible: (tools) => tools };
  private removeEffects: (() => void) | undefined = undefined;

  constructor(private readonly settings: ManifestSettings) {
    const { workspaceDir, appName, env } = settings;
    this.target = settings.logger ?? consoleLogger;
    this.gate = settings.gate ?? this.createGate();
    const { gate } = this;
    this.shell = settings.hooks || shellHooks({ workspaceDir, appName, gate });
    this.mcp = settings.mcp ?? mcpServers({ gate, system: { env } });
    this.choices = new EnableChoices(settings);
    const redact = <Value>(value: Value): Value => this.redactor.copy(value);
    this.servers = new InstalledServers(this.mcp, { workspaceDir, report: this.diagnostics.report, redact });
  }

  async load(host: LoaderHost): Promise<void> {
    this.target = this.settings.logger ?? host.logger;
    const redacted = Object.create(host, { logger: { value: this.logger } }) as LoaderHost;
    await this.shell.load(redacted);
    await this.mcp.load(redacted);
    this.host = host;
    if (this.settings.skillTool !== false) host.use(skillLifecycle(this.skills, this.settings.skillTool));
  }

  async close(): Promise<void> {
    await this.choices.settled();
    await this.shell.close?.();
    await this.mcp.close();
  }

  /** Updates skills, instructions and hidden tools from the active extension packages. */
  publish(active: readonly PreparedExtension[]): void {
    const skills = active.flatMap(({ texts }) => texts.skills.map((entry) => this.redacted(entry)));
    this.skills.replace([...skills, ...this.standalone.entries]);
    const contexts = active.map(({ texts }) => this.redactor.text(texts.context)).filter((text) => text !== '');
    const hidden = new HiddenTools(active, this.shell.runner);
    this.effects = { contexts, visible: (tools) => this.visible(tools, hidden) };
    if (contexts.length > 0 || !hidden.isEmpty)
      this.removeEffects ??= this.host?.use(extensionLifecycle(() => this.effects));
    else {
      this.removeEffects?.();
      this.removeEffects = undefined;
    }
  }

  private visible(tools: readonly Tool[], hidden: HiddenTools): readonly Tool[] {
    hidden.check(() => this.host?.tools() ?? tools).forEach(this.diagnostics.report);
    this.diagnostics.flush();
    return hidden.rest(tools);
  }

  private redacted(entry: SkillEntry): SkillEntry {
    return {
      skill: this.redactor.copy(entry.skill),
      open: async () => this.redactor.copy(await entry.open()),
    };
  }

  private createGate(): TrustGate {
    const { workspaceDir, appName, userDir, approve, approveTimeoutMs, allow, env } = this.settings;
    return createTrustGate({
      workspaceDir,
      appName,
      stateDir: userDir,
      approve,
      approveTimeoutMs,
      allow,
      path: env.PATH,
      logger: this.logger,
    });
  }
}
