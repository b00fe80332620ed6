import { onAbort } from '../../internal/stop.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { dialectOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import { detached } from '../hook/effects.js';
import type { HookEventContext, HookMatchInput } from '../hook/event-context.js';
import { contentOf } from '../hook/identity.js';
import { patternsReady } from '../hook/linear-pattern.js';
import { HookExecutor } from './execution.js';
import { isFor, isWanted, namesOf } from './matching.js';
import { EventProgress, type FinishedRun, type HookEventResult } from './outcome.js';
import { endPlainEvent, type HookEventData, type PlainData, plainContext } from './plain-events.js';
import type { HookSystem } from './system.js';

/** Runs the hooks of one event, one after another. */
export class HookRunner {
  private readonly executor: HookExecutor;

  constructor(private readonly system: HookSystem) {
    this.executor = new HookExecutor(system);
  }

  /**
   * Returns the hooks that match the event, in order. Includes hooks of the workspace that are not approved yet, because
   * their regular expression is tested only after the approval.
   */
  matching(subject: Pick<HookEventContext, 'event' | 'tool' | 'args' | 'isError' | 'source'>): readonly ShellHook[] {
    const hooks = this.system.registry.hooksOf(subject.event);
    if (hooks.length === 0) return hooks;
    return hooks.filter((hook) => {
      const isTested = hook.pattern === undefined || this.system.approvals.mayTest(hook);
      return isFor(isTested ? hook : { ...hook, matches: () => true }, subject, this.system.toolNames);
    });
  }

  /** Returns the names of a tool: its own name, and its name in the hook's dialect. */
  namesOf(tool: string, hook: Pick<ShellHook, 'dialect' | 'extension'>): readonly string[] {
    return namesOf(tool, hook, this.system.toolNames);
  }

  /**
   * Runs the hooks of an event one after another. In the result, `value` is the data after the changes of all hooks. A
   * failed hook is listed in `outcomes`, and the next hook runs. A cancellation stops the remaining hooks. Rejects with
   * a `HookEventInvalidError` if the event is unknown, or if a field of the data is missing or invalid.
   *
   * @example
   * const { runner } = shellHooks();
   * const { cancelled, reason, value } = await runner.run('before_tool', { tool_name: 'look', args: { at: 'pier' } });
   */
  async run<Event extends HookEvent>(
    event: Event,
    data: HookEventData[Event] & PlainData,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<HookEventResult<PlainData>> {
    const context = plainContext(event, data, signal);
    const ready = patternsReady();
    if (ready !== undefined) await ready;
    const outcome = await this.runEvent(context);
    return endPlainEvent(event, outcome, (name, hook) => this.namesOf(name, hook));
  }

  /**
   * Runs hooks for an event of an agent, whose value can have any type. A failed hook is listed in `outcomes`. A
   * cancellation stops the remaining hooks. Never rejects.
   */
  async runEvent<Value>(
    context: HookEventContext<Value>,
    hooks: readonly ShellHook[] = this.matching(context),
  ): Promise<HookEventResult<Value>> {
    const { registry, approvals, reports } = this.system;
    const progress = new EventProgress(context);
    const completed: ShellHook[] = [];
    const queue = [...hooks];
    for (const [at, hook] of queue.entries()) {
      if (context.signal?.aborted) break;
      // The hook was removed while an earlier hook ran. After a reload, its replacement runs instead.
      if (!registry.hooksOf(context.event).includes(hook)) {
        queue.push(...this.replacements(context, queue, at));
        continue;
      }
      if (isRepeated(hook, completed)) continue;
      if (approvals.mayTest(hook) && !isWanted(hook, progress, this.system)) continue;
      const finished = await this.runUntilDetached(hook, progress);
      if (finished === 'detached') completed.push(hook);
      if (finished === 'detached' || finished === undefined) continue;
      reports.finished(hook, finished);
      progress.take(hook, finished);
      if (finished.outcome.status === 'completed') completed.push(hook);
      if (progress.isOver) break;
    }
    return progress.result();
  }

  /**
   * Runs a hook until it ends, or until it writes that it needs no wait. From then on it outlives the event and its
   * abort signal, but not its time limit and its loader. A background hook needs no wait from the start.
   */
  private runUntilDetached<Value>(
    hook: ShellHook,
    progress: EventProgress<Value>,
  ): Promise<FinishedRun | 'detached' | undefined> {
    const { context, value } = progress;
    if (!hook.background && dialectOf(hook.dialect).detaches === undefined) return this.executor.run(hook, progress);
    const { reports, background } = this.system;
    return new Promise((resolve) => {
      let isDetached = false;
      const life = new AbortController();
      const release = onAbort(context.signal, () => life.abort(context.signal?.reason));
      const detach = () => {
        isDetached = true;
        release();
        background.add(ended, life);
        resolve('detached');
      };
      // A background hook reads the event as it is now, whatever the next hooks change.
      const own = hook.background ? new EventProgress({ ...context, value }) : progress;
      const ended = this.executor.run(hook, own, { signal: life.signal, detach }).then((finished) => {
        release();
        if (!isDetached) resolve(finished);
        else if (finished !== undefined) reports.finished(hook, { ...finished, reading: detached(finished.reading) });
      });
      if (hook.background) detach();
    });
  }

  /**
   * Returns matching hooks that were registered during the event. Leaves out hooks with the same content as a hook that
   * this event has already reached.
   */
  private replacements(subject: HookMatchInput, queue: readonly ShellHook[], at: number): readonly ShellHook[] {
    const over = new Set(queue.slice(0, at).map(contentOf));
    return this.matching(subject).filter((hook) => !queue.includes(hook) && !over.has(contentOf(hook)));
  }
}

/**
 * Returns true if the same command of the same file has already completed. Other programs run a command once, even if
 * several matchers select it. A hook that was not approved and did not run does not count.
 */
function isRepeated(hook: ShellHook, completed: readonly ShellHook[]): boolean {
  const { runsOnce } = dialectOf(hook.dialect).facts;
  return runsOnce && completed.some((other) => commandOf(other) === commandOf(hook));
}

function commandOf(hook: ShellHook): string {
  const { dialect, scope, source, extension, root, command, args, env, background, http } = hook;
  // Hooks with the same command share one execution. A guard does not share the execution of a background hook, which
  // cannot deny a call.
  return JSON.stringify([dialect, scope, source, extension, root, command, args, env, background, http]);
}
