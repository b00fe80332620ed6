import type { Model } from 'keelson';
import { openai } from 'keelson/openai';
import { scriptedExplorer } from './scripted-explorer.js';

const PROBE_MS = 300;

/** A model to run with, and where it comes from in words. */
export interface Choice {
  readonly model: Model;
  readonly note: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** OpenAI or a server like it where there is a key, Ollama where one answers, otherwise the script. */
export async function chooseModel(env: Environment): Promise<Choice> {
  return (
    openAIModel(env) ?? (await ollamaModel(env)) ?? scriptedChoice('no OPENAI_API_KEY, and no Ollama that answers')
  );
}

/** The script in place of a model. It says why. */
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

/** Ollama takes `host`, `host:port`, `:port` and a whole URL; it listens on 0.0.0.0, which nobody can call. */
function ollamaURL(host: string): string {
  const whole = /^https?:\/\//.test(host) ? host : `http://${host.startsWith(':') ? `127.0.0.1${host}` : host}`;
  const url = new URL(whole);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.port === '' && url.protocol === 'http:') url.port = '11434';
  return url.origin;
}
