import type { JsonSchema } from '../internal/json.js';
import type { Awaitable } from '../internal/promise.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { UserMessage } from '../model/message.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import type { Tool } from '../tools/tool.js';
import type { AgentEvent, AgentEventOf } from './agent-event.js';
import {
  type AgentOptions,
  type AnyRunOptions,
  type OutputRunArguments,
  type RunArguments,
  resolveAgentOptions,
  type SessionOptions,
} from './agent-options.js';
import type { AgentStatus } from './agent-status.js';
import { type AsToolOptions, agentTool, type PromptSchema } from './as-tool.js';
import { Engine } from './engine.js';
import type { OutputOf, OutputSchema } from './run/output.js';
import type { RunResult } from './run-result.js';
import { EventStream, type RunStream } from './run-stream.js';
import type { Session } from './session.js';

/**
 * Runs the model–tool loop. What may change that loop is an {@link AgentLifecycle}, and nothing else. One agent serves
 * any number of runs at once; they share nothing that changes.
 *
 * @example
 * const agent = new Agent({ model, tools: [search], lifecycle: [retryModelCalls()] });
 * const { text } = await agent.run('Which files mention the licence?');
 */
export class Agent<Context = unknown> {
  /** For the compiler alone: an agent that needs a context is no agent that needs none. */
  declare protected readonly needsContext: ((context: Context) => void) | undefined;
  readonly name: string;
  private readonly engine: Engine;

  /** Throws OptionInvalidError, LifecycleInvalidError or ToolConflictError where an option cannot be used. */
  constructor(options: AgentOptions<Context>) {
    const defaults = resolveAgentOptions(options);
    this.name = defaults.agent;
    this.engine = new Engine(options, defaults);
  }

  /** The lifecycles in the order in which they take part. */
  get lifecycle(): readonly AgentLifecycle<never>[] {
    return this.engine.registry.chain.entries.map(({ lifecycle }) => lifecycle);
  }

  /**
   * Runs until the model gives a final answer, a lifecycle ends the run, or a limit does. An empty input goes on from
   * `messages` alone. A rejection is a KeelsonError, unless a logger, clock or ids of your own throw; one that ended a run
   * that had begun carries its `messages`.
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
    ...options: OutputRunArguments<Context, Schema>
  ): Promise<RunResult<OutputOf<Schema>>>;
  run(input: string | UserMessage, ...options: RunArguments<Context>): Promise<RunResult>;
  /** The output is the text when the schema turns out to be `undefined`. */
  run<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, Schema>
  ): Promise<RunResult<OutputOf<Schema> | string>>;
  run(input: string | UserMessage, ...options: readonly unknown[]): Promise<unknown> {
    return this.engine.launch(input, options[0] as AnyRunOptions | undefined);
  }

  /**
   * The same run, with a listener: its events as they happen, and its result.
   *
   * @example
   * for await (const event of agent.stream('Hello')) {
   *   if (event.type === 'text-delta') process.stdout.write(event.text);
   * }
   */
  stream<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: OutputRunArguments<Context, Schema>
  ): RunStream<OutputOf<Schema>>;
  stream(input: string | UserMessage, ...options: RunArguments<Context>): RunStream;
  /** The output is the text when the schema turns out to be `undefined`. */
  stream<Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, Schema>
  ): RunStream<OutputOf<Schema> | string>;
  stream(input: string | UserMessage, ...options: readonly unknown[]): unknown {
    const given = options[0] as AnyRunOptions | undefined;
    return new EventStream((sink, left) => this.engine.launch(input, given, { sink, left }));
  }

  /**
   * Opens a conversation that remembers its messages in a store, and calls `onSessionStart`.
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
   * Adds a lifecycle from the next run on. The function that it returns takes it out again: its callbacks are inert at
   * once, also in runs that are going on.
   */
  use(lifecycle: AgentLifecycle<Context>): () => void {
    return this.engine.use(lifecycle);
  }

  /** As `use`, for building an agent in one expression. */
  withLifecycle(lifecycle: AgentLifecycle<Context>): this {
    this.use(lifecycle);
    return this;
  }

  /**
   * Calls `listener` for every event of this type, of all runs. A throw or a rejection of a listener is logged. Throws
   * OptionInvalidError when the type is unknown.
   *
   * @example
   * agent.on('tool-end', ({ name }) => console.log(name));
   */
  on<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => Awaitable<void>): this {
    this.engine.hub.on(type, listener);
    return this;
  }

  /** Calls `listener` for the next event of this type, and takes it off. */
  once<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => Awaitable<void>): this {
    this.engine.hub.on(type, listener, true);
    return this;
  }

  /** Takes off a listener that `on` or `once` was given. */
  off<Type extends AgentEvent['type']>(type: Type, listener: (event: AgentEventOf<Type>) => Awaitable<void>): this {
    this.engine.hub.off(type, listener);
    return this;
  }

  /**
   * This agent as a tool of another. It gets the calling run's signal and context, and its tokens count there. Its
   * failure is an error result.
   *
   * @example
   * const librarian = agent.asTool({ name: 'librarian', description: 'Finds books.' });
   * const desk = new Agent({ model, tools: [librarian] });
   */
  asTool<Schema extends StandardSchema | JsonSchema = PromptSchema>(options: AsToolOptions<Schema>): Tool<Context> {
    return agentTool(this.name, (input, given) => this.engine.launch(input, given), options);
  }

  /** Runs the loaders and `onInit`, as the first run does by itself. Rejects where one of them fails. */
  ready(): Promise<void> {
    return this.engine.ready();
  }

  /**
   * Aborts the runs that are going on, closes the sessions, calls `onShutdown` in reverse order, then closes the
   * loaders. What fails meanwhile is logged. A second call waits for the first.
   */
  close(): Promise<void> {
    return this.engine.close();
  }

  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What the agent is made of as it stands. */
  status(): AgentStatus {
    return this.engine.status();
  }
}
