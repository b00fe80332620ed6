import type { JsonSchema } from '../internal/json.js';
import { validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { UserMessage } from '../model/message.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import type { Tool } from '../tools/tool.js';
import type { AgentEvent, AgentEventOf } from './agent-event.js';
import {
  type AgentOptions,
  type AnyRunOptions,
  closeRules,
  type RunArguments,
  type RunOptions,
  resolveAgentOptions,
  type SessionOptions,
} from './agent-options.js';
import { type AsToolOptions, agentTool, type PromptSchema, type StartRun } from './as-tool.js';
import { type AgentStatus, Engine } from './engine.js';
import type { OutputOf, OutputSchema } from './run/output/output.js';
import type { RunResult } from './run-result.js';
import { EventStream, type RunStream } from './run-stream.js';
import type { Session } from './session/session.js';

/**
 * Runs the loop of model calls and tool calls. Each {@link AgentLifecycle} can observe and change the loop. One agent
 * can run any number of runs at the same time; the runs share no mutable state.
 *
 * @example
 * const agent = new Agent({ model, tools: [search], lifecycle: [retryModelCalls()] });
 * const { text } = await agent.run('Which files mention the licence?');
 */
export class Agent<Context = unknown> {
  /** Type brand, never set: `Agent<C>` is not assignable to `Agent`. */
  declare protected readonly needsContext: ((context: Context) => void) | undefined;
  readonly name: string;
  private readonly engine: Engine;

  /** Throws OptionInvalidError, LifecycleInvalidError or ToolConflictError if an option is invalid. */
  constructor(options: AgentOptions<Context>) {
    const defaults = resolveAgentOptions(options);
    this.name = defaults.agent;
    this.engine = new Engine(options, defaults);
  }

  /** The lifecycles in the order in which their hooks are called. */
  get lifecycle(): readonly AgentLifecycle<never>[] {
    return this.engine.registry.config.chain.entries.map(({ lifecycle }) => lifecycle);
  }

  /**
   * Runs until the model gives a final answer, a lifecycle ends the run, or a limit is reached. With an empty input,
   * the run continues from `messages` alone.
   *
   * Rejects with a KeelsonError, unless your own logger, clock or ids throw. If the run had started, the error has the
   * `messages` of the run.
   *
   * @example
   * const { text } = await agent.run('Which files mention the licence?');
   *
   * @example
   * const result = await agent.run('Who wrote it?', { output: z.object({ author: z.string() }) });
   * if (result.status === 'completed') console.log(result.output.author);
   */
  run<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, RunOptions<Context, Schema> & { readonly output: Schema }>>
  ): Promise<RunResult<OutputOf<Schema>>>;
  run(input: string | UserMessage, ...options: RunArguments<Context>): Promise<RunResult>;
  /** Overload for an `output` schema that may be undefined at runtime. Without a schema, the output is the text. */
  run<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, RunOptions<Context, Schema>>
  ): Promise<RunResult<OutputOf<Schema> | string>>;
  run(input: string | UserMessage, ...options: readonly unknown[]): Promise<unknown> {
    return this.engine.launch(input, options[0] as AnyRunOptions | undefined);
  }

  /**
   * Starts a run, as `run` does. Returns a stream of its events with the `result`.
   *
   * @example
   * for await (const event of agent.stream('Hello')) {
   *   if (event.type === 'text-delta') process.stdout.write(event.text);
   * }
   */
  stream<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, RunOptions<Context, Schema> & { readonly output: Schema }>>
  ): RunStream<OutputOf<Schema>>;
  stream(input: string | UserMessage, ...options: RunArguments<Context>): RunStream;
  /** Overload for an `output` schema that may be undefined at runtime. Without a schema, the output is the text. */
  stream<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, RunOptions<Context, Schema>>
  ): RunStream<OutputOf<Schema> | string>;
  stream(input: string | UserMessage, ...options: readonly unknown[]): unknown {
    const runOptions = options[0] as AnyRunOptions | undefined;
    return new EventStream((attached) => this.engine.launch(input, runOptions, attached));
  }

  /**
   * Opens a session, which keeps its messages in a store, and calls `onSessionStart`.
   *
   * @example
   * await using session = await agent.session({ id: 'ada' });
   * await session.run('My name is Ada.');
   * const { text } = await session.run('What is my name?');
   */
  session(options: SessionOptions = {}): Promise<Session<Context>> {
    return this.engine.sessions.start(options) as Promise<unknown> as Promise<Session<Context>>;
  }

  /**
   * Adds a lifecycle to all later runs. Returns a function that removes the lifecycle. Removed hooks are not called
   * again, even in active runs.
   */
  use(lifecycle: AgentLifecycle<Context>): () => void {
    return this.engine.registry.use(lifecycle);
  }

  /** As `use`, but returns the agent, for chaining. */
  withLifecycle(lifecycle: AgentLifecycle<Context>): this {
    this.use(lifecycle);
    return this;
  }

  /**
   * Calls `listener` for every event of this type, in all runs. An error of a listener is logged. Throws
   * OptionInvalidError if the event type is unknown.
   *
   * @example
   * agent.on('tool-end', ({ name }) => console.log(name));
   */
  on<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => Awaitable<void>): this {
    this.engine.hub.on(type, listener);
    return this;
  }

  /** Calls `listener` for the next event of this type only. */
  once<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => Awaitable<void>): this {
    this.engine.hub.on(type, listener, true);
    return this;
  }

  /** Removes a listener that was added with `on` or `once`. */
  off<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => Awaitable<void>): this {
    this.engine.hub.off(type, listener);
    return this;
  }

  /**
   * Makes a tool that runs this agent for another agent. The nested run gets the signal and the context of the calling
   * run. Its tokens count in the usage of the calling run.
   *
   * A failed run becomes an error result. While the nested run waits for decisions, the tool call waits too. Then
   * `pending` of the calling run lists the waiting calls.
   *
   * @example
   * const librarian = agent.asTool({ name: 'librarian', description: 'Finds books.' });
   * const desk = new Agent({ model, tools: [librarian] });
   */
  asTool<Schema extends StandardSchema | JsonSchema = PromptSchema>(options: AsToolOptions<Schema>): Tool<Context> {
    const { engine, name } = this;
    const run: StartRun = (input, runOptions, onEvent) =>
      engine.launch(input, runOptions, onEvent && { sink: engine.hub.guard(onEvent) });
    return agentTool({ name, run, findTool: (tool) => engine.findTool(tool) }, options);
  }

  /**
   * Runs the loaders and all `onInit` hooks now. Optional, because the first run does the same. Rejects if a loader or
   * hook fails.
   */
  ready(): Promise<void> {
    return this.engine.loading.ready();
  }

  /**
   * Closes the agent. No new run starts; active runs and background works continue for `drainMs` milliseconds (default:
   * 0), and are then aborted.
   *
   * Then closes the sessions, calls `onShutdown` in reverse order, and closes the loaders. Failures are logged. Further
   * calls return the same promise.
   *
   * @example
   * process.once('SIGTERM', () => agent.close({ drainMs: 20_000 }));
   */
  close(options: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    validateOptions(options, closeRules);
    return this.engine.close(options.drainMs ?? 0);
  }

  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the current state of the agent as plain data. Calls no hook. */
  status(): AgentStatus {
    return this.engine.status();
  }
}
