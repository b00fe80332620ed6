import { systemClock } from '../internal/clock.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { boolean, fullText } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { StateStats } from '../state/state-store.js';
import { EXTENSION_REGISTRATION_TOTAL } from '../telemetry/metrics.js';
import type { LiveToolSet, Tool } from '../tools/tool.js';
import type { KnownTools } from '../tools/unknown-tool-names.js';
import { Attachments } from './attachments.js';
import { readDefinition } from './checks/definition-check.js';
import type { ExtensionInput, RegisteredExtension } from './definition.js';
import { ExtensionInvalidError } from './error.js';
import { createLifecycle } from './lifecycle.js';
import { ExtensionMetrics } from './metrics.js';
import { type ExtensionRegistryOptions, resolveRegistryOptions } from './options.js';
import { type CallbackPlan, Registrations } from './plan.js';
import { createRegistration, logRegistration } from './registration.js';
import { ExtensionRun, type RegistrySettings, RunMap } from './run.js';
import { ExtensionState } from './state/extension-state.js';

/** A store whose sessions can be deleted, such as a SessionStore. */
export interface DeletingStore {
  /** Deletes a session. */
  delete(id: string): unknown;
}

/** Options of `register`. */
export interface RegisterOptions {
  /** The only session in which an extension of scope `session` acts. Default: it acts in every session. */
  readonly session?: string | undefined;
}

/** Options of `unregister`. */
export interface UnregisterOptions {
  /** If true, the state of the extension is not removed. Default: false. */
  readonly keepState?: boolean | undefined;
}

/** The result of `unregister`. */
export interface UnregisterResult {
  /** The number of removed values, in all sessions. */
  readonly clearedValues: number;
}

/**
 * Registry of callback extensions, and a loader for any number of agents. Adds one lifecycle to each agent, which has
 * only the hooks that the extensions need. Without extensions it adds no lifecycle.
 *
 * Callbacks run by priority, higher first, then in the order of registration. A registered extension acts from the next
 * run on. An unregistered extension is not called again, not even in current runs.
 *
 * @example
 * const extensions = new ExtensionRegistry();
 * extensions.register({ id: 'shout', onPlainText: (text) => text.toUpperCase() });
 * const agent = new Agent({ model, loaders: [extensions] });
 */
export class ExtensionRegistry implements LifecycleLoader {
  readonly name = 'extensions';
  private readonly registrations = new Registrations();
  private readonly agents = new Attachments();
  private readonly runs = new RunMap<ExtensionRun>();
  private readonly settings: RegistrySettings;
  private readonly tools: ExtensionRegistryOptions['tools'];
  /** The ids of unregistered extensions whose state could not be removed. */
  private readonly uncleared = new Set<string>();

  constructor(options: ExtensionRegistryOptions = {}) {
    const { stateSettings, ...settings } = resolveRegistryOptions(options);
    const { logger, onStateAlert: onAlert } = options;
    const metrics = new ExtensionMetrics(options.metrics, () => this.logger);
    const state = new ExtensionState({ ...stateSettings, metrics, onAlert });
    this.settings = { ...settings, state, metrics, logger, knownTools: () => this.knownTools() };
    this.tools = options.tools;
  }

  /**
   * Registers an extension from the next run on. Throws ExtensionInvalidError, and leaves the registry unchanged, if
   * the extension is invalid, its id is already registered, or its `toolConfig` names an unknown tool.
   *
   * @example
   * const extensions = new ExtensionRegistry();
   * extensions.register({ id: 'shout', onPlainText: (text) => text.toUpperCase() }, { session: 'ada' });
   */
  register(extension: ExtensionInput, options: RegisterOptions = {}): RegisteredExtension {
    validateOptions(options, { session: fullText } satisfies OptionTable<RegisterOptions>);
    const { session } = options;
    const definition = readDefinition(extension, this.knownTools());
    const { id } = definition;
    if (this.registrations.get(id) !== undefined)
      throw new ExtensionInvalidError(id, [
        '`id` must be unique, and this id is registered already; unregister the other extension first',
      ]);
    const registration = createRegistration(definition, { source: extension, session });
    this.registrations.add(registration);
    this.settings.metrics.count(EXTENSION_REGISTRATION_TOTAL, { action: 'register', extension_id: id });
    this.agents.update(() => this.lifecycle());
    if (this.logger !== consoleLogger) logRegistration(registration, this.logger);
    return registration.extension;
  }

  /**
   * Removes an extension at once, and its state in every session. Resolves to the number of removed values, or to
   * false if no extension has the id. Rejects with StateStoreError if the store cannot remove the state; the extension
   * is removed then, and another call tries to remove the state again.
   *
   * @example
   * import { ExtensionRegistry } from 'keelson/extension';
   *
   * const registry = new ExtensionRegistry();
   * registry.register({ id: 'shout', onPlainText: (text) => text.toUpperCase() });
   * await registry.unregister('shout', { keepState: true });
   */
  async unregister(id: string, options: UnregisterOptions = {}): Promise<UnregisterResult | false> {
    validateOptions(options, { keepState: boolean } satisfies OptionTable<UnregisterOptions>);
    const { keepState = false } = options;
    const wasRegistered = this.remove(id);
    if (!wasRegistered && !this.uncleared.has(id)) return false;
    if (keepState) {
      this.uncleared.delete(id);
      return { clearedValues: 0 };
    }
    this.uncleared.add(id);
    const clearedValues = await this.settings.state.clearExtension(id, this.site);
    this.uncleared.delete(id);
    if (clearedValues > 0) {
      const details = { extensionId: id, clearedValues };
      this.logger.info(`${clearedValues} state values of extension "${id}" were removed.`, details);
    }
    return { clearedValues };
  }

  /**
   * Removes the state of all extensions in a session. Call it when the session is deleted. Resolves to the number of
   * removed values. Rejects with StateStoreError if the store cannot remove the state.
   */
  clearSession(session: string): Promise<number> {
    return this.settings.state.clearSession(session, this.site);
  }

  /**
   * Returns a session store like `store` that also removes the state of all extensions when a session is deleted.
   *
   * @example
   * const extensions = new ExtensionRegistry();
   * const store = extensions.withState(new MemorySessionStore());
   * const agent = new Agent({ model, store, loaders: [extensions] });
   */
  withState<Store extends DeletingStore>(store: Store): Store {
    const remove = async (id: string) => {
      await store.delete(id);
      await this.clearSession(id);
    };
    return new Proxy(store, {
      get(target, name) {
        if (name === 'delete') return remove;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  /** Returns the registered extension with the id, or undefined. */
  get(id: string): RegisteredExtension | undefined {
    return this.registrations.get(id)?.extension;
  }

  /** Returns all extensions in the order of registration. */
  list(): readonly RegisteredExtension[] {
    return this.registrations.list().map(({ extension }) => extension);
  }

  /** Returns the size of the state of a session in the store: all bytes, and the bytes of each extension. */
  stats(session: string): Promise<StateStats> {
    return this.settings.state.stats(session, this.site);
  }

  /** Adds the registry's lifecycle to an agent. Called by each agent that has the registry in its `loaders`. */
  load(host: LoaderHost): void {
    if (host.signal.aborted) return;
    this.agents.add(host, this.lifecycle());
    for (const registration of this.registrations.list()) logRegistration(registration, this.logger);
  }

  /** Returns the extensions in the order in which their callbacks run. */
  status(): unknown {
    return this.registrations.plan.registrations.map(({ extension: { id, priority, scope, session } }) => ({
      id,
      priority,
      scope,
      session,
    }));
  }

  private get logger(): Logger {
    return this.settings.logger ?? this.agents.logger ?? consoleLogger;
  }

  private get site() {
    return { clock: systemClock, logger: this.logger };
  }

  /** Creates a new lifecycle for each change, so that a run keeps the extensions that it started with. */
  private lifecycle() {
    const { plan } = this.registrations;
    return createLifecycle(plan, (run) => this.runOf(run, plan), this.settings.onStateFailure);
  }

  private remove(id: string): boolean {
    if (!this.registrations.remove(id)) return false;
    this.agents.update(() => this.lifecycle());
    this.settings.metrics.count(EXTENSION_REGISTRATION_TOTAL, { action: 'unregister', extension_id: id });
    this.logger.info(`Extension "${id}" was unregistered.`, { extensionId: id });
    return true;
  }

  private runOf(run: RunContext, plan: CallbackPlan): ExtensionRun {
    const known = this.runs.get(run);
    if (known !== undefined) return known;
    const made = new ExtensionRun(run, this.settings, plan);
    this.runs.set(run, made);
    return made;
  }

  /** The declared tools, the tools of the agents, and the tools that their servers may add. */
  private knownTools(): KnownTools {
    const { tools, prefixes } = this.agents.known();
    return { tools: [...this.declaredTools().map((name) => ({ name })), ...tools], prefixes };
  }

  private declaredTools(): readonly string[] {
    const { tools = [] } = this;
    const declared = Array.isArray(tools) ? tools : (tools as LiveToolSet).list();
    return declared.map((tool: Tool | string) => (typeof tool === 'string' ? tool : tool.name));
  }
}

/**
 * Returns a loader of callback extensions: an {@link ExtensionRegistry} with the definitions registered in their order.
 * `register` adds more later. Throws ExtensionInvalidError if a definition is invalid.
 *
 * @example
 * const shout = defineExtension({ id: 'shout', onPlainText: (text) => text.toUpperCase() });
 * const agent = new Agent({ model, loaders: [extensions([shout])] });
 */
export function extensions(
  definitions: readonly ExtensionInput[],
  options: ExtensionRegistryOptions = {},
): ExtensionRegistry {
  const registry = new ExtensionRegistry(options);
  for (const definition of definitions) registry.register(definition);
  return registry;
}
