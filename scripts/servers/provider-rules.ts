import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Logger } from '../../src/internal/logger.js';
import type { Model, ToolSpec } from '../../src/model/model.js';
import { anthropic } from '../../src/providers/anthropic/anthropic.js';
import { openai } from '../../src/providers/openai/openai.js';

type Fields = Readonly<Record<string, unknown>>;
type Fetch = (url: unknown, request?: { readonly body?: unknown }) => Promise<Response>;

/** A tool in a recorded request. */
interface Sent {
  readonly name: string;
  readonly schema: Fields;
}

/**
 * Records a request with the tools to each API, and tests it against the documented rules of OpenAI and Anthropic.
 * Returns the rules that a request breaks. No request leaves the process.
 */
export async function providerProblems(tools: readonly ToolSpec[], logger: Logger): Promise<readonly string[]> {
  const response = await recorded((fetch) =>
    openai('gpt-5.2', { client: new OpenAI({ apiKey: 'none', fetch }), api: 'responses', logger }),
  )(tools);
  const completion = await recorded((fetch) =>
    openai('gpt-5.2', { client: new OpenAI({ apiKey: 'none', fetch }), api: 'chat', logger }),
  )(tools);
  const message = await recorded((fetch) =>
    anthropic('claude-sonnet-5', { client: new Anthropic({ apiKey: 'none', fetch }), logger }),
  )(tools);
  return [
    ...openAIProblems('OpenAI responses', sentTools(response), tools),
    ...openAIProblems('OpenAI chat', sentTools(completion), tools),
    ...anthropicProblems(sentTools(message), tools),
  ];
}

/** Returns a function that records the body of one request. The provider gets an error as its answer. */
function recorded(modelWith: (fetch: never) => Model): (tools: readonly ToolSpec[]) => Promise<Fields> {
  return async (tools) => {
    let body: Fields = {};
    const fetch: Fetch = (_url, request) => {
      body = JSON.parse(String(request?.body)) as Fields;
      return Promise.resolve(new Response('{"error":{"message":"recorded"}}', { status: 400 }));
    };
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    await modelWith(fetch as never)
      .generate({ messages, tools })
      .catch(() => {});
    return body;
  };
}

/** The three APIs have three forms of a tool. */
function sentTools({ tools = [] }: Fields): readonly Sent[] {
  return (tools as Fields[]).map((tool) => {
    const { name, parameters, input_schema: schema = parameters } = (tool.function ?? tool) as Fields;
    return { name: String(name), schema: schema as Fields };
  });
}

const MOST_TOOLS = 128;

function openAIProblems(api: string, sent: readonly Sent[], tools: readonly ToolSpec[]): readonly string[] {
  const isWhole = sent.length === Math.min(tools.length, MOST_TOOLS);
  return [
    ...(isWhole ? [] : [`${api}: the request has ${sent.length} of ${tools.length} tools`]),
    ...repeatedNames(api, sent),
    ...sent.flatMap(({ name, schema }) => [
      ...(/^[\w-]{1,64}$/.test(name) ? [] : [`${api}: name ${name}`]),
      ...(schema.type === 'object' ? [] : [`${api}: root of ${name}`]),
      ...(arraysHaveItems(schema) ? [] : [`${api}: an array of ${name} has no items`]),
    ]),
  ];
}

function anthropicProblems(sent: readonly Sent[], tools: readonly ToolSpec[]): readonly string[] {
  return [
    ...(sent.length === tools.length ? [] : [`Anthropic: the request has ${sent.length} of ${tools.length} tools`]),
    ...repeatedNames('Anthropic', sent),
    ...sent.flatMap(({ name, schema }) => {
      const keys = Object.keys((schema.properties ?? {}) as object);
      return [
        ...(/^[\w-]{1,128}$/.test(name) ? [] : [`Anthropic: name ${name}`]),
        ...(keys.every((property) => /^[\w.-]{1,64}$/.test(property)) ? [] : [`Anthropic: keys of ${name}`]),
        ...(schema.type === 'object' && !['anyOf', 'oneOf', 'allOf'].some((word) => word in schema)
          ? []
          : [`Anthropic: root of ${name}`]),
      ];
    }),
  ];
}

function repeatedNames(api: string, sent: readonly Sent[]): readonly string[] {
  const names = sent.map(({ name }) => name);
  return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${api}: two tools named ${name}`);
}

function arraysHaveItems(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(arraysHaveItems);
  if (typeof node !== 'object' || node === null) return true;
  const { type, items } = node as Fields;
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return !(isArray && items === undefined) && Object.values(node).every(arraysHaveItems);
}
