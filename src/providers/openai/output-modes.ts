import type { OutputMode } from '../shared/output/output-mode.js';
import { serverAt } from './client.js';

/** A service that is known to accept an output schema in one way only, with the source of this fact. */
interface OutputRule {
  /** Matches the host name of the service. */
  readonly host: RegExp;
  /** Matches the id of the model. Default: all models. */
  readonly model?: RegExp;
  readonly mode: OutputMode;
  readonly source: string;
  /** The date of the source or of its last change. `unknown` if the source does not give it. */
  readonly date: string;
}

/**
 * Rules for services that accept an output schema together with tools, or that accept no schema. The first matching
 * rule applies.
 *
 * For any other service, the schema is sent in a separate request without tools. Groq, Cerebras and Google's Gemini 2
 * refuse a schema together with tools. With Ollama, vLLM and llama.cpp, a schema prevents tool calls.
 */
const OUTPUT_RULES: readonly OutputRule[] = [
  {
    host: /(?:^|\.)x\.ai$/,
    mode: 'native',
    source: 'https://docs.x.ai/docs/guides/structured-outputs',
    date: 'unknown',
  },
  {
    host: /(?:^|\.)openrouter\.ai$/,
    model: /^~?(?:openai|anthropic|x-ai)\//,
    mode: 'native',
    source: 'https://openrouter.ai/docs/features/structured-outputs',
    date: 'unknown',
  },
  {
    host: /(?:^|\.)deepseek\.com$/,
    mode: 'tool',
    source: 'https://github.com/llm-exe/llm-exe/issues/662',
    date: '2026-07-11',
  },
  {
    host: /(?:^|\.)groq\.com$/,
    mode: 'after-tools',
    source: 'https://github.com/vercel/ai/pull/16540',
    date: '2026-07-01',
  },
  {
    host: /(?:^|\.)googleapis\.com$/,
    mode: 'after-tools',
    source: 'https://github.com/vercel/ai/pull/16540',
    date: '2026-07-01',
  },
];

/**
 * Returns the way to ask the model at this base URL for structured output. OpenAI and Azure OpenAI accept a schema
 * together with tools.
 */
export function outputModeAt(baseURL: string | undefined, model: string): OutputMode {
  if (serverAt(baseURL) === 'openai') return 'native';
  const host = URL.canParse(baseURL ?? '') ? new URL(baseURL ?? '').hostname : '';
  const rule = OUTPUT_RULES.find((each) => each.host.test(host) && (each.model?.test(model) ?? true));
  return rule?.mode ?? 'after-tools';
}
