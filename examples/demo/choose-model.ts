import type { Model } from 'keelson';
import { openai } from 'keelson/openai';
import { scriptedExplorer } from './scripted-explorer.js';

const PROBE_MS = 300;

/** A model, and a description of its source. */
export interface Choice {
  readonly model: Model;
  readonly note: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Chooses OpenAI or a compatible server if a key is set, else a running Ollama, else the script. */
export async function chooseModel(env: Environment): Promise<Choice> {
  return (
    openAIModel(env) ??
    (await ollamaModel(env)) ??
    scriptedChoice('OPENAI_API_KEY is not set, and Ollama does not answer')
  );
}

/** Returns the scripted model. Its description gives the reason. */
export function scriptedChoice(why: string): Choice {
  return { model: scriptedExplorer(), note: `a script instead of a model (${why}); tools, files and hooks are real` };
}

function openAIModel({ OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL, OPENAI_MODEL }: Environment) {
  if (!apiKey) return undefined;
  const id = OPENAI_MODEL || 'gpt-5-mini';
  const model = openai(id, { apiKey, ...(baseURL && { baseURL }) });
  return { model, note: `${id} at ${baseURL || 'OpenAI'}` };
}

async function ollamaModel({ OLLAMA_HOST, OLLAMA_MODEL }: Environment): Promise<Choice | undefined> {
  try {
    const url = ollamaURL(OLLAMA_HOST || '127.0.0.1:11434');
    const response = await fetch(`${url}/api/tags`, { signal: AbortSignal.timeout(PROBE_MS) });
    const { models } = (await response.json()) as { readonly models: readonly { readonly name: string }[] };
    const id = OLLAMA_MODEL || models[0]?.name;
    return id ? { model: openai(id, { baseURL: `${url}/v1` }), note: `${id} at Ollama, ${url}` } : undefined;
  } catch {
    return undefined;
  }
}

/** Converts `host`, `host:port`, `:port` or a URL. Ollama may be set to 0.0.0.0, which a client cannot call. */
function ollamaURL(host: string): string {
  const whole = /^https?:\/\//.test(host) ? host : `http://${host.startsWith(':') ? `127.0.0.1${host}` : host}`;
  const url = new URL(whole);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.port === '' && url.protocol === 'http:') url.port = '11434';
  return url.origin;
}
