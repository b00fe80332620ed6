import { isSameData } from '../../../internal/plain-data.js';
import type { Decision } from '../../../lifecycle/decision.js';
import type { CacheDifference } from '../../../lifecycle/hook-run/run-reports.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import type { Message } from '../../../model/message.js';
import type { Model, ModelRequest, ToolSpec, Usage } from '../../../model/model.js';
import type { Run } from '../run.js';
import { ownerOf, type RunEngine } from '../run-config.js';

/** Providers do not cache a shorter beginning of a request. */
const LEAST_TOKENS = 1_024;
/** Tolerance in tokens: providers cache whole blocks, and may count the end of a request separately. */
const SLACK_TOKENS = 256;
const TTL_MS = { '5m': 300_000, '1h': 3_600_000 };
/** The maximum number of sessions of an agent whose last request is stored. */
const MOST_SESSIONS = 1_000;

/** A model request that got a response. */
interface SentRequest {
  readonly run: Run;
  readonly at: number;
  readonly model: Model;
  readonly parts: Pick<ModelRequest, 'messages' | 'tools' | 'toolChoice' | 'output' | 'settings'>;
  /** The number of tokens of this request that the provider can read from its cache for the next request. */
  readonly tokens: number;
  /** The decisions of the run since its previous request. */
  readonly decisions: readonly Decision[];
  /** The number of decisions that the run had made at this request. Later decisions belong to the next request. */
  readonly decided: number;
}

const ofRuns = new WeakMap<Run, SentRequest>();
const ofSessions = new WeakMap<RunEngine, Map<string, SentRequest>>();

/**
 * Compares a request with the previous request of the same run or session. Emits `cache-miss` if the provider read
 * fewer tokens from its cache than possible.
 *
 * Skips the first request of a conversation and short requests.
 */
export function reportCacheMiss(run: Run, request: ModelCallRequest, usage: Usage): void {
  const before = exchange(run, request, usage);
  const cachedTokens = usage.cachedInputTokens ?? 0;
  if (before === undefined || before.tokens < LEAST_TOKENS || before.tokens - cachedTokens <= SLACK_TOKENS) return;
  const now = latestOf(run) as SentRequest;
  const difference = before.model === now.model ? firstDifference(before.parts, now.parts) : undefined;
  run.report({
    type: 'cache-miss',
    cachedTokens,
    expectedTokens: before.tokens,
    cause: causeOf(difference, { before, now }),
    difference,
    by: difference === undefined ? [] : changersOf(difference, { before, now }),
  });
}

function exchange(run: Run, request: ModelCallRequest, usage: Usage): SentRequest | undefined {
  const before = latestOf(run);
  const { messages, tools, toolChoice, output, settings, model } = request;
  const { inputTokens, cachedInputTokens = 0, cacheWriteTokens } = usage;
  const decided = run.decisions.length;
  keep(run, {
    run,
    model,
    at: run.context.clock.now(),
    parts: { messages: [...messages], tools, toolChoice, output, settings },
    // A provider that counts cache writes caches only the counted tokens.
    tokens: cacheWriteTokens === undefined ? inputTokens : cachedInputTokens + cacheWriteTokens,
    decisions: run.decisions.slice(before?.run === run ? before.decided : 0),
    decided,
  });
  return before;
}

function latestOf(run: Run): SentRequest | undefined {
  const { session } = run.context;
  return session === undefined ? ofRuns.get(run) : ofSessions.get(ownerOf(run).engine)?.get(session.id);
}

function keep(run: Run, sent: SentRequest): void {
  const { session } = run.context;
  const { engine } = ownerOf(run);
  if (session === undefined) {
    ofRuns.set(run, sent);
    return;
  }
  const sessions = ofSessions.get(engine) ?? new Map<string, SentRequest>();
  ofSessions.set(engine, sessions);
  sessions.delete(session.id);
  sessions.set(session.id, sent);
  const [oldest] = sessions.keys();
  if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
}

interface Neighbours {
  readonly before: SentRequest;
  readonly now: SentRequest;
}

function causeOf(difference: CacheDifference | undefined, { before, now }: Neighbours) {
  if (before.model !== now.model) return 'other-model';
  if (difference !== undefined) return 'changed';
  const ttl = before.parts.settings?.promptCache?.ttl ?? '5m';
  return now.at - before.at >= TTL_MS[ttl] ? 'expired' : 'evicted';
}

/** Returns the first difference in the order in which providers cache a request: tools, instructions, messages. */
function firstDifference(before: SentRequest['parts'], now: SentRequest['parts']): CacheDifference | undefined {
  return (
    toolDifference(before.tools, now.tools) ??
    messageDifference(before.messages, now.messages) ??
    settingDifference(before, now)
  );
}

function toolDifference(before: readonly ToolSpec[], now: readonly ToolSpec[]): CacheDifference | undefined {
  const index = Array.from({ length: Math.max(before.length, now.length) }).findIndex(
    (_, at) => !isSameTool(before[at], now[at]),
  );
  return index < 0 ? undefined : { part: 'tool', index, name: (now[index] ?? before[index])?.name };
}

function isSameTool(one: ToolSpec | undefined, other: ToolSpec | undefined): boolean {
  if (one === other) return true;
  const shown = [one, other].map((tool) => tool && [tool.name, tool.description, tool.inputSchema, tool.deferred]);
  return isSameData(shown[0], shown[1]);
}

/**
 * Compares the messages of the previous request with the same positions now. Later messages are new, so they are not a
 * difference.
 */
function messageDifference(before: readonly Message[], now: readonly Message[]): CacheDifference | undefined {
  const [old, current] = [before, now].map((messages) => (messages[0]?.role === 'system' ? messages[0] : undefined));
  if (!isSameData(old, current)) return { part: 'instructions' };
  const first = current === undefined ? 0 : 1;
  const at = before.findIndex((message, index) => message !== now[index] && !isSameData(message, now[index]));
  return at < 0 ? undefined : { part: 'message', index: at - first, role: now[at]?.role ?? before[at]?.role };
}

/** Compares the settings that providers put at the beginning of a request. */
function settingDifference(before: SentRequest['parts'], now: SentRequest['parts']): CacheDifference | undefined {
  const values = ({ output, toolChoice, settings }: SentRequest['parts']): Readonly<Record<string, unknown>> => ({
    output: output?.schema,
    toolChoice,
    reasoningEffort: settings?.reasoningEffort,
  });
  const [old, current] = [values(before), values(now)];
  const name = Object.keys(current).find((key) => !isSameData(old[key], current[key]));
  return name === undefined ? undefined : { part: 'settings', name };
}

/** The hook points besides `wrapModelCall` at which a lifecycle can change each part of a request. */
const POINTS: Readonly<Partial<Record<CacheDifference['part'], Decision['point']>>> = {
  tool: 'beforeToolSelection',
  message: 'beforeModel',
};

/** Returns the field of the request that holds the difference. */
function fieldOf({ part, name = '' }: CacheDifference): string {
  if (part === 'settings') return name === 'reasoningEffort' ? 'settings' : name;
  return part === 'tool' ? 'tools' : 'messages';
}

/** Returns the lifecycles whose decisions changed the part for this request, or else for the previous request. */
function changersOf(difference: CacheDifference, { before, now }: Neighbours): readonly string[] {
  const isChange = ({ type, point, after }: Decision) =>
    type === 'modify' &&
    (point === POINTS[difference.part] || (point === 'wrapModelCall' && [after].flat().includes(fieldOf(difference))));
  const namesIn = ({ decisions }: SentRequest) => [...new Set(decisions.filter(isChange).map(({ by }) => by))];
  const names = namesIn(now);
  return names.length > 0 ? names : namesIn(before);
}
