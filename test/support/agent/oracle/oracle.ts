import type { Case, Decide, Outcome, Part } from './case.js';
import { type Call, End, type Ending, HookOracle, ModelFailed, type Response, Suspended } from './hooks.js';

interface Batch {
  readonly calls: readonly Call[];
  /** Results that are known without a call. */
  readonly known: ReadonlyMap<string, string>;
  readonly tools: readonly string[];
  readonly halted: boolean;
}
interface OpenTurn {
  readonly calls: readonly Call[];
  readonly results: Map<string, string>;
  /** The position of the results, and the messages after them. */
  readonly at: number;
  readonly later: readonly string[];
}

interface OpenAnswer {
  readonly at: number;
  readonly text: string;
  /** True if messages follow the answer. */
  readonly isFollowed: boolean;
}

/** State that is kept between runs. */
interface World {
  readonly given: Case;
  readonly parts: readonly Part[];
  readonly fired: Map<string, number>;
  history: readonly string[];
  stored: readonly string[];
  modelCalls: number;
}

/** Predicts a run by the rules of the loop, one call after another. Does not support aborts. */
export function predict(given: Case): readonly Outcome[] {
  // The sort is stable, so equal priorities keep the registration order.
  const parts = [...given.parts].sort((a, b) => b.priority - a.priority);
  const world: World = { given, parts, fired: new Map(), history: [], stored: [], modelCalls: 0 };
  return given.runs.map((decide) => new RunOracle(world, decide).run());
}

class RunOracle {
  private readonly world: World;
  private readonly given: Case;
  private readonly parts: readonly Part[];
  private readonly decide: Decide;
  private readonly hooks: HookOracle;
  private readonly log: string[];
  private readonly messages: string[] = [];
  private readonly open: OpenTurn | undefined;
  private readonly held: OpenAnswer | undefined;
  /** The text of an approved answer. */
  private approvedText: string | undefined;
  private history: string[];
  /** True if the decisions on what waited are in the record. */
  private isDecided = false;
  private pending: string[] = [];
  private turn = 0;
  private tokens = 0;

  constructor(world: World, decide: Decide) {
    const { given, parts, history, stored } = world;
    this.world = world;
    this.given = given;
    this.parts = parts;
    this.decide = decide;
    this.hooks = new HookOracle(parts, world.fired);
    this.log = this.hooks.log;
    const from = given.inSession ? stored : history;
    this.open = openTurn(from);
    this.held = openAnswer(from);
    this.history = from.slice(0, this.open?.at ?? from.length);
  }

  run(): Outcome {
    const isResumed = this.open !== undefined || this.held !== undefined;
    const first = isResumed && !this.decide.input ? undefined : 'in';
    this.log.push(`run-start ${first ?? ''}`);
    let entered: readonly Part[] = [];
    let ending: Ending;
    try {
      let input = first ?? '';
      try {
        for (const part of this.parts) {
          const enters = () => {
            entered = [...entered, part];
          };
          if (part.acts.beforeAgent === undefined) enters();
          else
            input = this.hooks.thread(
              {
                ...{ part, point: 'beforeAgent', change: (text) => `${text}+${part.name}`, reached: enters },
                takesNoValue: first === undefined,
              },
              input,
            );
        }
      } catch (end) {
        this.begin(input, (end as End).ending.kind);
        throw end;
      }
      this.begin(input, undefined);
      this.hooks.checkEnded();
      if (this.pending.length > 0) throw new End({ kind: 'suspended', text: '' });
      const text = this.approvedText;
      ending = text === undefined ? this.turns() : { kind: 'text', text, isOwn: false };
    } catch (end) {
      if (!(end instanceof End)) throw end;
      ending = end.ending;
    }
    return this.finish(ending, entered);
  }

  /** Adds the input: at once, or in a resumed run after the results of the open calls. */
  private begin(input: string, over: Ending['kind'] | undefined): void {
    const message = input === '' || over === 'failed' ? [] : [`user: ${input}`];
    if (this.held !== undefined && over === undefined) {
      this.decideAnswer(this.held, message);
      return;
    }
    if (this.open === undefined) {
      for (const line of message) this.join(line);
      if (over !== 'failed') this.joinAdded();
      return;
    }
    const { calls, results, later } = this.open;
    const { approved } = this.decide;
    const isTurn = over !== 'failed';
    const isOver = over !== undefined;
    if (isTurn) this.log.push('turn-start 0');
    try {
      let tools = ['a', 'b', 'c'];
      let failure: unknown;
      try {
        if (!isOver) tools = this.selectTools();
      } catch (end) {
        failure = end;
      }
      const open = calls.filter(({ id }) => !results.has(id));
      for (const [at, { id }] of open.entries()) {
        const isApproved = approved[at % approved.length] === true;
        this.hooks.decide(isApproved ? 'approve' : 'block', 'resume', 'resume');
        if (!isApproved) results.set(id, `${id}!`);
      }
      this.isDecided = !isOver && failure === undefined;
      const failed = failure instanceof End && failure.ending.kind === 'failed';
      this.hooks.joins.unshift(...later, ...(failed ? [] : message));
      const halted = isOver || failure !== undefined;
      const fault = this.callAll({ calls, known: results, tools, halted });
      if (failure !== undefined) throw failure;
      if (fault !== undefined) throw new End(fault);
    } finally {
      if (isTurn) this.log.push('turn-end 0');
    }
  }

  private decideAnswer({ at, text, isFollowed }: OpenAnswer, message: readonly string[]): void {
    const isApproved = this.decide.approved[0] === true;
    this.isDecided = true;
    this.history = this.history.map((line, index) =>
      index === at ? line.replace('assistant?: ', 'assistant: ') : line,
    );
    this.hooks.decide(isApproved ? 'approve' : 'block', 'resume', 'resume');
    this.hooks.joins.unshift(...message);
    if (!isApproved) this.join('user: The answer was denied. Answer again.');
    const isLast = !this.joinAdded() && !isFollowed;
    if (isApproved && isLast) this.approvedText = text;
  }

  private finish(first: Ending, entered: readonly Part[]): Outcome {
    let ending = first;
    let left = entered;
    if (ending.kind === 'text') this.joinAdded();
    if (ending.kind === 'text' && ending.isOwn) {
      this.join(`assistant: ${ending.text}`);
    }
    if (ending.kind === 'text' || ending.kind === 'suspended') {
      let { text } = ending;
      try {
        for (const part of entered) {
          left = left.slice(1);
          text = this.hooks.thread({ part, point: 'afterAgent', change: (it) => `${it}+${part.name}` }, text);
        }
        this.log.push('run-end result');
        return this.outcome(`${ending.kind === 'text' ? 'completed' : 'suspended'}: ${text}`);
      } catch (end) {
        if (!(end instanceof End)) throw end;
        ending = end.ending;
      }
    }
    if (this.pending[0] !== 'answer') {
      this.closePending(this.messages);
      this.closePending(this.history);
    }
    this.pending = [];
    if (this.turn > 0) this.joinAdded();
    for (const part of left) this.log.push(`${part.name}.onError`);
    this.log.push('run-error', 'run-end');
    return this.outcome('by' in ending ? `${ending.kind} by ${ending.by} at ${ending.point}` : ending.kind);
  }

  /** Gives each open call of a failed run an error result, because a failed run cannot be resumed. */
  private closePending(list: string[]): void {
    if (this.pending.length === 0) return;
    const at = list.findLastIndex((line) => line.includes('call c')) + 1;
    const found = list[at]?.startsWith('tool: ') ? (list[at]?.slice('tool: '.length).split(', ') ?? []) : undefined;
    const results = [...(found ?? []), ...this.pending.map((id) => `${id}!`)].sort();
    list.splice(at, found === undefined ? 0 : 1, `tool: ${results.join(', ')}`);
  }

  private outcome(end: string): Outcome {
    const { messages, history, tokens, pending } = this;
    const { log, decisions } = this.hooks;
    this.world.history = history;
    if (this.given.inSession) this.world.stored = this.recorded();
    const { stored } = this.world;
    return { log, decisions, messages, history: [...history], end, tokens, pending, stored };
  }

  /** Returns what was said. A run that ended before the decisions on what waited has said nothing. */
  private recorded(): readonly string[] {
    const { open, held, isDecided, messages } = this;
    const before = this.world.stored;
    if (open === undefined && held === undefined) return [...before, ...messages];
    if (!isDecided) return before;
    if (open !== undefined) return [...before.slice(0, open.at), ...messages];
    return [...before.map((line) => line.replace('assistant?: ', 'assistant: ')), ...messages];
  }

  private turns(): Ending {
    for (this.turn = 1; ; this.turn += 1) {
      const { maxTurns, lastWord } = this.given;
      const isLast = lastWord && this.turn === maxTurns + 1;
      if (this.turn > maxTurns && !isLast) {
        this.turn -= 1;
        throw new End({ kind: 'limit' });
      }
      this.log.push(`turn-start ${this.turn}`);
      try {
        const answer = this.oneTurn(isLast);
        if (answer !== undefined) return { kind: 'text', text: answer, isOwn: false };
      } finally {
        this.log.push(`turn-end ${this.turn}`);
      }
    }
  }

  /** Returns the text of the final answer, or undefined if the run continues. */
  private oneTurn(isLast: boolean): string | undefined {
    let list: readonly string[] = this.history;
    try {
      for (const part of this.parts) {
        list = this.hooks.thread<readonly string[]>(
          {
            part,
            point: 'beforeModel',
            change: (it, act) => (act === 'compacts' ? ['user: short'] : [...it, `user: ${part.name}`]),
          },
          list,
        );
      }
      this.history = [...list];
    } catch (end) {
      // If a hook throws, the messages stay as they were before all hooks.
      if ((end as End).ending.kind !== 'failed') this.history = [...list];
      throw end;
    }
    const tools = isLast ? [] : this.selectTools();
    this.log.push(`model-start ${this.turn}`);
    let response: Response | undefined;
    try {
      response = this.modelCall(tools);
      this.hooks.checkEnded();
      for (const part of this.parts) {
        const change = (it: Response) => ({ ...it, texts: [...it.texts, part.name] });
        response = this.hooks.thread<Response>({ part, point: 'afterModel', change }, response);
      }
    } catch (end) {
      const { ending } = end as End;
      this.withhold(response, ending);
      if (ending.kind !== 'suspended' || response === undefined || response.calls.length > 0) throw end;
      throw new End({ kind: 'suspended', text: response.texts.join('') });
    }
    this.log.push(`model-end ${this.turn} ${textOf(response)}`);
    if (response.calls.length === 0) {
      this.join(`assistant: ${textOf(response)}`);
      if (this.joinAdded()) {
        if (this.turn < this.given.maxTurns) return undefined;
      }
      return response.texts.join('');
    }
    this.join(`assistant: ${textOf(response)}`);
    const last = response.cut ? (response.calls.at(-1)?.id ?? '') : '';
    const known = new Map(response.cut ? [[last, `${last}!`]] : []);
    const fault = this.callAll({ calls: response.calls, known, tools, halted: false });
    if (fault !== undefined) throw new End(fault);
    this.hooks.checkEnded();
    if (this.pending.length > 0) throw new End({ kind: 'suspended', text: '' });
    return undefined;
  }

  private selectTools(): string[] {
    let tools = ['a', 'b', 'c'];
    for (const part of this.parts)
      tools = this.hooks.thread({ part, point: 'beforeToolSelection', change: (list) => list.slice(1) }, tools);
    return tools;
  }

  /** Handles a response that a hook withheld: its calls get error results or stay open. */
  private withhold(response: Response | undefined, { kind }: Ending): void {
    if (kind === 'suspended' && response !== undefined) {
      this.log.push(`model-end ${this.turn} ${textOf(response)}`);
      const isAnswer = response.calls.length === 0;
      this.join(`assistant${isAnswer ? '?' : ''}: ${textOf(response)}`);
      this.pending = isAnswer ? ['answer'] : response.calls.map(({ id }) => id);
      this.joinAdded();
      return;
    }
    this.log.push(`model-end ${this.turn}`);
    if (response === undefined || response.calls.length === 0 || kind === 'failed') return;
    this.join(`assistant: ${textOf(response)}`);
    this.join(`tool: ${response.calls.map(({ id }) => `${id}!`).join(', ')}`);
    this.joinAdded();
  }

  private callAll({ calls, known, tools, halted }: Batch): Ending | undefined {
    const results = new Map<string, string>();
    const begun = new Set<string>();
    let fault: Ending | undefined;
    for (const call of calls) {
      const { id } = call;
      if (halted || fault !== undefined || this.hooks.ended !== undefined) break;
      if (known.has(id)) continue;
      this.log.push(`tool-start ${id}`);
      begun.add(id);
      try {
        const result = this.hooks.wrapped(
          { point: 'wrapToolCall', innermost: (inner) => this.execute(inner as Call, tools) },
          call,
        );
        // A call that is running when the run ends gets an error result.
        if (this.hooks.ended !== undefined) break;
        results.set(id, `${id}${result}`);
        this.log.push(`tool-end ${id}${result}`);
      } catch (thrown) {
        // A run that has already ended is not failed by later errors of wrap hooks.
        if (thrown instanceof End) fault = this.hooks.ended === undefined ? thrown.ending : undefined;
        else if (!(thrown instanceof Suspended)) throw thrown;
      }
    }
    const waits = !halted && fault === undefined && this.hooks.ended === undefined;
    for (const { id } of calls) {
      const result = results.get(id) ?? known.get(id);
      if (result !== undefined) results.set(id, result);
      else if (waits) this.pending.push(id);
      else results.set(id, `${id}!`);
      if (result === undefined && begun.has(id)) this.log.push(`tool-end ${id}${waits ? '' : '!'}`);
    }
    const inOrder = calls.flatMap(({ id }) => results.get(id) ?? []);
    if (inOrder.length > 0) this.join(`tool: ${inOrder.join(', ')}`);
    this.joinAdded();
    return fault;
  }

  private execute(call: Call, tools: readonly string[]): string {
    if (this.hooks.ended !== undefined || !tools.includes(call.name) || call.input === 'bad') return '!';
    this.log.push(`tool ${call.name} ${call.input}`);
    return call.name === 'b' ? '!' : `=${call.input}`;
  }

  private modelCall(tools: readonly string[]): Response {
    try {
      return this.hooks.wrapped(
        { point: 'wrapModelCall', innermost: (settings) => this.model(tools, settings as string) },
        '',
      ) as Response;
    } catch (thrown) {
      if (thrown instanceof ModelFailed) throw new End({ kind: 'model' });
      throw thrown;
    }
  }

  private model(tools: readonly string[], settings: string): Response {
    const at = this.world.modelCalls++;
    this.log.push(`model ${this.history.length} ${tools.join('')} ${settings}`);
    const step = this.given.script[at] ?? 'says';
    if (step === 'fails') throw new ModelFailed();
    this.tokens += 1;
    if (step === 'says') return { texts: [`said ${at}`], calls: [], cut: false };
    const calls = step.calls.map((name, index) => ({ id: `c${at}.${index}`, name, input: name === 'c' ? 'bad' : '1' }));
    return { texts: [], calls, cut: step.cut };
  }

  private join(line: string): void {
    this.messages.push(line);
    this.history.push(line);
  }

  private joinAdded(): boolean {
    const added = this.hooks.joins.splice(0);
    for (const line of added) this.join(line);
    return added.length > 0;
  }
}

/** Returns the last turn of a conversation if it has open calls. */
function openTurn(history: readonly string[]): OpenTurn | undefined {
  const at = history.findLastIndex((line) => line.includes('call c')) + 1;
  const calls = [...(history[at - 1] ?? '').matchAll(/call (c\S+) (\w+)/g)].map(([, id = '', name = '']) => ({
    id,
    name,
    input: name === 'c' ? 'bad' : '1',
  }));
  const [next = '', ...others] = history.slice(at);
  const partial = next.startsWith('tool: ') ? next.slice('tool: '.length).split(', ') : [];
  const results = new Map(partial.map((result) => [result.split(/[!=]/)[0] ?? '', result]));
  if (calls.length === 0 || calls.length === results.size) return undefined;
  return { calls, results, at, later: partial.length > 0 ? others : history.slice(at) };
}

/** Returns the answer of the last turn if a hook suspended it. */
function openAnswer(history: readonly string[]): OpenAnswer | undefined {
  const at = history.findLastIndex((line) => !line.startsWith('user: '));
  const line = history[at] ?? '';
  if (!line.startsWith('assistant?: ')) return undefined;
  const text = line.slice('assistant?: '.length).split(', ').join('');
  return { at, text, isFollowed: at < history.length - 1 };
}

function textOf({ texts, calls }: Response): string {
  return [...texts, ...calls.map(({ id, name }) => `call ${id} ${name}`)].join(', ');
}
