import { type Clock, systemClock } from '../../internal/clock.js';
import { consoleLogger, type Logger, logFailure } from '../../internal/logger.js';
import { clock, logger, timerMs } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import { isPromise } from '../../internal/promise.js';
import type { AgentLifecycle, LifecycleLoader, LoaderHost } from '../../lifecycle/lifecycle.js';
import { validatePlugin } from '../check-plugin.js';
import { PluginConflictError } from '../error.js';
import type { Plugin, PluginContext, ToolExecutionResult } from '../plugin.js';
import { askBefore, askMessage, callInTime, type PluginCalling, passAfter, type ToolVerdict } from './call.js';
import { pluginLifecycles } from './lifecycles.js';
import { type PluginPart, partOf } from './part.js';

/** Options of `createHookManager`. */
export interface HookManagerOptions {
  /** Time limit for one hook, in milliseconds. Default 30,000. For `onShutdown` at most 5,000. */
  readonly timeoutMs?: number | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Runs the hooks of plugins. Each hook runs in the order of registration and gets the value that the previous plugin
 * returned. If a hook throws, times out or returns an invalid value, the failure is logged with the plugin's name and
 * never thrown.
 */
export interface HookManager extends LifecycleLoader {
  /**
   * Calls `onInit` of each plugin unless it was called, and adds the lifecycles. An agent with `loaders: [hooks]` calls
   * this method.
   */
  load(host: LoaderHost): Promise<void>;
  /**
   * Adds a plugin. Throws a PluginInvalidError if the plugin is invalid, and a PluginConflictError if its name is
   * taken.
   */
  register(plugin: Plugin): void;
  /** The plugins in the order of registration. */
  readonly plugins: readonly Plugin[];
  /** Calls `onInit` of each plugin. A plugin that fails is removed. Returns the removed plugins with their errors. */
  onInit(context: PluginContext): Promise<readonly { readonly plugin: Plugin; readonly error: unknown }[]>;
  /** Returns the message after every plugin's `beforeMessage`. */
  beforeMessage(message: string): Promise<string>;
  /** Calls `afterResponse` of every plugin. */
  afterResponse(response: { content: string; stopReason: string }): Promise<void>;
  /** Returns the tool call after every plugin's `beforeToolExecute`, or null if a plugin blocked it. */
  beforeToolExecute(
    name: string,
    input: Record<string, unknown>,
  ): Promise<{ name: string; input: Record<string, unknown> } | null>;
  /** Same as `beforeToolExecute`, but returns the reason for the model if the call is blocked. */
  judgeToolCall(name: string, input: Record<string, unknown>): Promise<ToolVerdict>;
  /**
   * Returns the tool result after every plugin's `afterToolExecute`. If a plugin fails, an error replaces the original
   * result.
   */
  afterToolExecute(
    name: string,
    input: Record<string, unknown>,
    result: ToolExecutionResult,
  ): Promise<ToolExecutionResult>;
  /** Calls `onShutdown` of each plugin, in reverse order. */
  onShutdown(): Promise<void>;
  /** Returns one lifecycle per plugin, with its tools and every hook except `onInit`. Call `onInit` first. */
  lifecycles(): readonly AgentLifecycle[];
}

const SHUTDOWN_MS = 5_000;

/** Validation rules for the options of `createHookManager`. */
export const callingRules = { timeoutMs: timerMs, logger, clock } satisfies OptionTable<HookManagerOptions>;

export function resolveCalling({
  timeoutMs = 30_000,
  logger = consoleLogger,
  clock = systemClock,
}: HookManagerOptions): PluginCalling {
  return { timeoutMs, logger, clock };
}

const NO_IDS = { callId: '', sessionId: '' };

/** A plugin and its callable form. */
export interface Member {
  readonly plugin: Plugin;
  readonly part: PluginPart;
}

/** The hook manager. The plugins passed to the constructor must be validated already. */
export class PluginHookManager implements Omit<HookManager, keyof LifecycleLoader> {
  /** True once `onInit` was called. */
  isInitialised = false;

  constructor(
    private readonly calling: PluginCalling,
    private members: readonly Member[] = [],
  ) {}

  get plugins(): readonly Plugin[] {
    return this.members.map(({ plugin }) => plugin);
  }

  register(plugin: Plugin): void {
    validatePlugin(plugin);
    if (this.members.some((member) => member.plugin.name === plugin.name)) {
      throw new PluginConflictError(`A plugin named "${plugin.name}" is already registered. Choose another name.`);
    }
    this.members = [...this.members, { plugin, part: partOf(plugin) }];
  }

  onInit(context: PluginContext): Promise<readonly { readonly plugin: Plugin; readonly error: unknown }[]> {
    return this.initialiseEach(() => context);
  }

  /** Same as `onInit`, but with a separate context for each plugin. */
  async initialiseEach(
    contextOf: (part: PluginPart) => PluginContext,
  ): Promise<readonly { readonly plugin: Plugin; readonly error: unknown }[]> {
    this.isInitialised = true;
    const failed: { plugin: Plugin; error: unknown }[] = [];
    for (const { plugin, part } of this.members) {
      try {
        await this.initialise(part, contextOf(part));
      } catch (error) {
        const isClosed = this.calling.signal?.aborted === true;
        if (!isClosed) logFailure(this.calling, `Plugin "${part.name}" is refused: its onInit failed.`, error);
        failed.push({ plugin, error });
      }
    }
    this.members = this.members.filter(({ plugin }) => !failed.some((it) => it.plugin === plugin));
    return failed;
  }

  async beforeMessage(message: string): Promise<string> {
    let current = message;
    for (const part of this.parts) {
      current = (await this.passOver('beforeMessage', part, () => askMessage(part, current))) ?? current;
    }
    return current;
  }

  async afterResponse(response: { content: string; stopReason: string }): Promise<void> {
    for (const part of this.parts) {
      await this.passOver('afterResponse', part, () => part.afterResponse?.({ ...response }));
    }
  }

  async beforeToolExecute(name: string, input: Record<string, unknown>) {
    const verdict = await this.judgeToolCall(name, input);
    return verdict.blocked === undefined ? { name: verdict.name, input: verdict.input } : null;
  }

  async judgeToolCall(name: string, input: Record<string, unknown>): Promise<ToolVerdict> {
    let call = { name, input, ...NO_IDS };
    for (const part of this.parts) {
      if (part.beforeTool === undefined) continue;
      const verdict = await askBefore(part, call, this.calling);
      if (verdict.blocked !== undefined) return verdict;
      call = { ...verdict, ...NO_IDS };
    }
    return { name: call.name, input: call.input };
  }

  async afterToolExecute(name: string, input: Record<string, unknown>, result: ToolExecutionResult) {
    const passed = await passAfter(this.parts, { call: { name, input, ...NO_IDS }, result }, this.calling);
    return passed.result;
  }

  async onShutdown(): Promise<void> {
    for (const part of this.parts.toReversed()) await this.end(part);
  }

  lifecycles(): readonly AgentLifecycle[] {
    return pluginLifecycles(this.parts, { timeoutMs: this.calling.timeoutMs, replaced: new Set() });
  }

  get parts(): readonly PluginPart[] {
    return this.members.map(({ part }) => part);
  }

  private async initialise(part: PluginPart, context: PluginContext): Promise<void> {
    if (part.onInit === undefined) return;
    this.calling.signal?.throwIfAborted();
    const begun = part.onInit(context);
    try {
      await this.inTime('onInit', part, () => begun);
    } catch (error) {
      // An `onInit` that exceeded its time limit may still finish later, and is shut down then.
      if (isPromise(begun))
        begun.then(
          () => this.end(part),
          () => {},
        );
      throw error;
    }
  }

  private async end(part: PluginPart): Promise<void> {
    await this.passOver('onShutdown', part, () => part.onShutdown?.());
  }

  private inTime<T>(hook: string, part: PluginPart, work: () => T): Promise<Awaited<T>> {
    const { calling } = this;
    const what = `${hook} of plugin "${part.name}"`;
    const limits =
      hook === 'onShutdown' ? { timeoutMs: Math.min(calling.timeoutMs, SHUTDOWN_MS), signal: undefined } : undefined;
    return callInTime(what, work as () => Awaited<T>, { ...calling, ...limits });
  }

  private async passOver<T>(hook: string, part: PluginPart, work: () => T): Promise<Awaited<T> | undefined> {
    try {
      return await this.inTime(hook, part, work);
    } catch (error) {
      logFailure(this.calling, `${hook} of plugin "${part.name}" failed; continuing without it.`, error);
      return undefined;
    }
  }
}
