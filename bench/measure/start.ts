import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { createPackedProject, install } from '../../scripts/packed-project.mjs';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

const STARTS = 10;
const BOUND = 0.5;

/** The same two programs for both sides: an agent, and the route of a chat. */
const PROGRAMS = {
  'keelson-agent': `
    import { Agent } from 'keelson';
    import { openai } from 'keelson/openai';
    export const agent = new Agent({ model: openai('gpt-5-mini', { apiKey: 'k' }) });`,
  'ai-agent': `
    import { createOpenAI } from '@ai-sdk/openai';
    import { ToolLoopAgent } from 'ai';
    export const agent = new ToolLoopAgent({ model: createOpenAI({ apiKey: 'k' })('gpt-5-mini') });`,
  'keelson-route': `
    import { Agent } from 'keelson';
    import { openai } from 'keelson/openai';
    import { createAgentHandler } from 'keelson/ui';
    const agent = new Agent({ model: openai('gpt-5-mini', { apiKey: 'k' }) });
    export const POST = createAgentHandler(agent, { authorize: () => 'ada', session: (id) => id });`,
  'ai-route': `
    import { createOpenAI } from '@ai-sdk/openai';
    import { convertToModelMessages, streamText } from 'ai';
    const model = createOpenAI({ apiKey: 'k' })('gpt-5-mini');
    export async function POST(request) {
      const { messages } = await request.json();
      return streamText({ model, messages: await convertToModelMessages(messages) }).toUIMessageStreamResponse();
    }`,
};

/** Cold start and bundle beside `ai` and `@ai-sdk/openai`, which are installed from npm each time. */
export async function measureStart({ race }: Setting): Promise<Figure[]> {
  const folder = createPackedProject();
  try {
    install(['ai@7', '@ai-sdk/openai@4'], folder);
    for (const [name, source] of Object.entries(PROGRAMS)) writeFileSync(join(folder, `${name}.mjs`), source);
    const figures = ['agent', 'route'].map((name) => startsOf(folder, name, race.rounds));
    for (const name of ['agent', 'route']) figures.push(...(await bundlesOf(folder, name)));
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of the starts of a round, which alternate, the shortest counts. */
function startsOf(folder: string, name: string, rounds: number): Figure {
  const start = (side: string) => startMs(join(folder, `${side}-${name}.mjs`));
  const best = Array.from({ length: rounds }, () => {
    const starts = Array.from({ length: STARTS }, () => [start('keelson'), start('ai')] as const);
    return [Math.min(...starts.map(([ours]) => ours)), Math.min(...starts.map(([, theirs]) => theirs))] as const;
  });
  const note = `${digits(median(best.map(([ours]) => ours)))} ms against ${digits(median(best.map(([, theirs]) => theirs)))}`;
  const ratios = best.map(([ours, theirs]) => ours / theirs);
  return figureOf(ratios, { name: `start of ${wordsOf(name)}, against the AI SDK`, unit: '×', bound: BOUND, note });
}

function startMs(file: string): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [file]);
  if (status !== 0) throw new Error(`The program failed: ${stderr}`);
  return performance.now() - start;
}

async function bundlesOf(folder: string, name: string): Promise<Figure[]> {
  const [ours, theirs] = await Promise.all([
    bundle(join(folder, `keelson-${name}.mjs`)),
    bundle(join(folder, `ai-${name}.mjs`)),
  ]);
  const figure = (what: string, [bytes, others]: readonly [number, number]): Figure => ({
    name: `bundle of ${wordsOf(name)}, ${what}, against the AI SDK`,
    value: bytes / others,
    unit: '×',
    bound: BOUND,
    note: `${digits(bytes / 1000)} kB against ${digits(others / 1000)}`,
  });
  return [figure('minified', [ours.minified, theirs.minified]), figure('min + gzip', [ours.packed, theirs.packed])];
}

async function bundle(entry: string): Promise<{ minified: number; packed: number }> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  return { minified: bytes.length, packed: gzipSync(bytes, { level: 9 }).length };
}

function wordsOf(name: string): string {
  return name === 'agent' ? 'an agent' : 'a chat route';
}
