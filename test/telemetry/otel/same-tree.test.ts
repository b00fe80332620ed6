import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { Agent, type AgentLifecycle, formatRun, HookAction, type RunResult, type Tool } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { calls, fails, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry().register();
});

afterEach(() => telemetry.close());

/** How a run of the tree ends, or what stops it. */
const FATES = {
  fine: {},
  'rejected at its start': { beforeAgent: () => HookAction.reject('closed today') },
  'rejected before its model': { beforeModel: () => HookAction.reject('too dark') },
  // A call that does not begin, because the response was rejected, has no span.
  'rejected for its answer': {
    afterModel: ({ finishReason }) => (finishReason === 'tool-calls' ? undefined : HookAction.reject('too rude')),
  },
  answered: { beforeAgent: () => HookAction.respond('no need') },
  approved: { afterModel: () => HookAction.Approve },
  reworded: { beforeAgent: (input: string) => `${input}!` },
  'reworded at its end': { afterAgent: (text: string) => `${text}!` },
  'broken at its end': {
    // Not of a suspended run: the spans of its open calls have ended, and the failure gives these calls a result.
    afterAgent: (text: string) => {
      if (text === 'ok') throw new Error('no ink');
    },
  },
  'without calls': { wrapToolCall: () => ({ content: 'not today', isError: true }) },
  'with a broken guard': {
    onFailure: 'block',
    wrapToolCall: () => {
      throw new Error('lost its list');
    },
  },
  'waiting for a person': { wrapToolCall: () => HookAction.suspend('over 100') },
  'with known results': { wrapToolCall: () => ({ content: 'known' }) },
  'with a broken hook': {
    beforeModel: () => {
      throw new Error('bad hook');
    },
  },
} satisfies Record<string, AgentLifecycle>;

/** One run: how it ends, the runs in its calls, and if it also calls a tool that throws. */
interface Planned {
  readonly fate: keyof typeof FATES | 'a broken model';
  readonly throws: boolean;
  readonly inside: readonly Planned[];
}

const { tree } = fc.letrec<{ tree: Planned }>((tie) => ({
  tree: fc.record({
    fate: fc.constantFrom(...(Object.keys(FATES) as (keyof typeof FATES)[]), 'a broken model' as const),
    throws: fc.boolean(),
    inside: fc.oneof({ depthSize: 'small', maxDepth: 3 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
  }),
}));

const broken = toolOf('broken', () => {
  throw new RangeError('out of range');
});

function plant({ fate, throws, inside }: Planned, name: string): Agent {
  const tools: Tool[] = inside.map((run, index) => plant(run, `${name}${index}`).asTool({ description: 'Helps.' }));
  const asked = tools.map((tool) => ({ name: tool.name, id: `to-${tool.name}`, input: { prompt: 'p' } }));
  if (throws) asked.push({ name: 'broken', id: `of-${name}`, input: { prompt: '' } });
  const answer = fate === 'a broken model' ? fails('down') : 'ok';
  const [first, ...rest] = asked;
  const script = first === undefined ? [answer] : [calls(first, ...rest), answer];
  const guard = fate === 'a broken model' ? {} : { name: 'guard', ...FATES[fate] };
  const lifecycle = [openTelemetry({ content: true }), guard as AgentLifecycle];
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  return new Agent({ name, model: scriptedModel(script), tools: [...tools, broken], lifecycle, logger: silent });
}

/** A run with the reasons of its refusals and failures. */
interface Seen {
  readonly path: readonly string[];
  readonly agent: string;
  readonly status: string;
  readonly reasons: string[];
}

const sorted = (runs: readonly Seen[]) =>
  runs
    .map((run) => ({ ...run, reasons: [...run.reasons].sort() }))
    .sort((a, b) => a.path.join().localeCompare(b.path.join()));

/** Reads the tree from the lines of `formatRun`: the indentation tells which run a line belongs to. */
function drawnRuns(text: string, root: string): Seen[] {
  const runs: Seen[] = [];
  const open: { readonly indent: number; readonly run: Seen }[] = [];
  for (const line of text.split('\n')) {
    const indent = line.search(/[^│ ]/);
    const said = line.slice(indent);
    const [, id, agent = root, status] = /^(?:(\S+) (\S+) )?(completed|failed|suspended): /.exec(said) ?? [];
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= indent + (status === undefined ? 1 : 0)) open.pop();
    if (status !== undefined) {
      const path = id === undefined ? [] : [...(open.at(-1)?.run.path ?? []), id];
      const run = { path, agent, status, reasons: [] };
      runs.push(run);
      open.push({ indent, run });
    } else {
      open.at(-1)?.run.reasons.push(...reasonsIn(said));
    }
  }
  return sorted(runs);
}

function reasonsIn(line: string): string[] {
  if (/^[├└]/.test(line))
    return [...line.matchAll(/✗ \((.*?)\)(?=, |$)|… waits/g)].map(([mark, reason]) => reason ?? mark);
  return [line];
}

/** Reads the tree from the spans, by their parents. */
function tracedRuns(spans: readonly ReadableSpan[]): Seen[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const parentOf = (span: ReadableSpan | undefined) => byId.get(span?.parentSpanContext?.spanId ?? '');
  const isRun = ({ name }: ReadableSpan) => name.startsWith('invoke_agent');
  const pathOf = (run: ReadableSpan): string[] => {
    const call = parentOf(run);
    if (call === undefined) return [];
    return [...pathOf(parentOf(call) as ReadableSpan), String(call.attributes['gen_ai.tool.call.id'])];
  };
  return sorted(
    spans.filter(isRun).map((run) => ({
      path: pathOf(run),
      agent: run.name.slice('invoke_agent '.length),
      status: String(run.attributes['keelson.run.status']),
      reasons: [run, ...spans.filter((span) => parentOf(span) === run && !isRun(span))].flatMap(reasonsOf),
    })),
  );
}

function reasonsOf(span: ReadableSpan): string[] {
  const [operation, name] = span.name.split(' ');
  const { code, message } = span.status;
  const thrown = span.events.find((event) => event.name === 'exception')?.attributes?.['exception.type'];
  const failure = operation === 'execute_tool' ? `${message}` : `✗ ${thrown}: ${message}`;
  const decisions = span.events.flatMap((event) => {
    if (event.name !== 'keelson.decision') return [];
    const [type, by, point, reason] = ['type', 'by', 'point', 'reason'].map(
      (key) => event.attributes?.[`keelson.decision.${key}`],
    );
    const about = operation === 'execute_tool' ? name : point;
    return [`${by}: ${type} ${about}${reason === undefined ? '' : ` (${reason})`}`];
  });
  if (span.attributes['keelson.tool.call.status'] === 'suspended') decisions.push('… waits');
  const isFailed = code === SpanStatusCode.ERROR && operation !== 'chat';
  return isFailed ? [failure, ...decisions] : decisions;
}

test('spans and `formatRun` show the same tree with the same reasons', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (planned) => {
      telemetry.exporter.reset();
      const outcome: RunResult | Error = await plant(planned, 'a')
        .run('go')
        .catch((error) => error);

      expect(tracedRuns(telemetry.spans)).toEqual(drawnRuns(formatRun(outcome), 'a'));
    }),
    { numRuns: 60 },
  );
});
