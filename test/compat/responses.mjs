// Compares the requests of the histories in test/fixtures/responses with the requests that `ai` and `@ai-sdk/openai`
// send for the same histories. Needs Node 22, and a folder in which the newest `ai` and `@ai-sdk/openai` are installed:
//   node test/compat/responses.mjs <folder>
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The differences. A comment says why Keelson differs; without one, both requests are valid. See
 * docs/decisions/0098-openai-by-responses.md.
 */
const EXPLANATIONS = [
  ['the AI SDK sends the default tool choice', ({ path, theirs }) => path === '/tool_choice' && theirs === 'auto'],
  ['the AI SDK names no `detail` of an image', ({ path, ours }) => path.endsWith('/detail') && ours === 'auto'],
  ['an error result', ({ path, ours }) => /output$/.test(path) && /^Error: /.test(ours)],
  // Models take an empty string for a failure.
  ['an empty result', ({ path, ours }) => /output$/.test(path) && ours === '(no output)'],
  // The API refuses reasoning without its following item.
  [
    'reasoning alone',
    ({ path, theirs }, { incomplete }) => path === '/input/+' && theirs?.type === 'reasoning' && incomplete,
  ],
  // The field is part of the item.
  [
    'reasoning that the server shows',
    ({ path }, { name }) => /\/content$/.test(path) && /reasoning that the server shows/.test(name),
  ],
  ['stored items go back whole', (_, { options }) => options?.store === true],
  // The response had one message.
  ['texts of one message', (_, { name }) => name === 'a message with two texts'],
  // Without storage, the model does not know its own results.
  [
    'results of hosted tools',
    ({ path, ours }) =>
      path === '/input/+' && /^(file_search|code_interpreter|image_generation|mcp|web_search)_call$/.test(ours?.type),
  ],
  // Without the item, the server lists the tools again.
  ['the list of tools of an MCP server', ({ path, ours }) => path === '/input/+' && ours?.type === 'mcp_list_tools'],
  // The server has not stored the request.
  ['the approval request', ({ path, ours }) => path === '/input/+' && ours?.type === 'mcp_approval_request'],
  // The model reads why.
  ['the reason of a denial', ({ path }) => path.endsWith('/reason')],
  // The call is an `apply_patch_call`.
  [
    'a text as the result of a patch',
    ({ path, ours, theirs }) =>
      path === '/input/+' && /^(apply_patch|function)_call_output$/.test((ours ?? theirs)?.type),
  ],
  [
    'fields of a shell call',
    ({ path, theirs }) => /\/(environment|timeout_ms|max_output_length|id|status)$/.test(path) && theirs === undefined,
  ],
  ['a namespace as it was given', ({ path }) => path.startsWith('/tools/0/tools')],
  // The action goes back as it came.
  [
    'fields of a local shell call',
    ({ path, theirs }, { tools }) =>
      tools?.[0]?.type === 'local_shell' && theirs === undefined && /\/(status|user|working_directory)$/.test(path),
  ],
  // The model reasons, so Keelson requests its encrypted reasoning.
  [
    'the reasoning of codex-mini-latest',
    ({ path, theirs }, { model }) => path === '/include' && theirs === undefined && model === 'codex-mini-latest',
  ],
];

function explanationOf(difference, history) {
  return EXPLANATIONS.find(([, isSo]) => isSo(difference, history))?.[0];
}

const folder = process.argv[2] ?? '.';
const load = (name) => import(pathToFileURL(createRequire(join(folder, 'x.js')).resolve(name)).href);
const { generateText, jsonSchema, stepCountIs, isStepCount = stepCountIs, tool } = await load('ai');
const { createOpenAI } = await load('@ai-sdk/openai');

const histories = JSON.parse(readFileSync(new URL('../fixtures/responses/histories.json', import.meta.url), 'utf8'));
const end = [
  {
    type: 'message',
    id: 'msg_end',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'End.', annotations: [] }],
  },
];

/** Starts a server that sends the output of a history first, and keeps the bodies of the requests. */
async function serve({ output, incomplete }) {
  const bodies = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    bodies.push(JSON.parse(text));
    const isFirst = bodies.length === 1;
    const reason = isFirst && incomplete !== undefined ? { reason: incomplete } : null;
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const body = {
      id: `resp_${bodies.length}`,
      object: 'response',
      created_at: 1,
      model: 'm',
      status: reason ? 'incomplete' : 'completed',
      output: isFirst ? output : end,
      usage,
      incomplete_details: reason,
      error: null,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { bodies, baseURL: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

const camel = (value) => {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()),
      camel(inner),
    ]),
  );
};

const FACTORIES = {
  web_search: 'webSearch',
  file_search: 'fileSearch',
  code_interpreter: 'codeInterpreter',
  image_generation: 'imageGeneration',
  apply_patch: 'applyPatch',
  local_shell: 'localShell',
  tool_search: 'toolSearch',
  programmatic_tool_calling: 'programmaticToolCalling',
  custom: 'customTool',
  mcp: 'mcp',
  shell: 'shell',
  computer: 'computer',
};

function toolsOf({ tools = [], results = {} }, provider) {
  const made = {};
  for (const { type, name = type, ...args } of tools) {
    if (type === 'namespace') continue;
    const execute = results[name] === undefined ? {} : { execute: () => given(results[name], type) };
    const given_args =
      type === 'shell' && args.environment?.type === 'container_auto'
        ? { environment: { type: 'containerAuto' } }
        : camel(args);
    const container = type === 'code_interpreter' ? {} : given_args;
    made[name] = provider.tools[FACTORIES[type]]({ ...container, ...execute });
    if (execute.execute) made[name] = { ...made[name], toModelOutput: contentOutput };
  }
  for (const [name, result] of Object.entries(results)) {
    if (made[name]) continue;
    const namespace = tools.find(({ type }) => type === 'namespace');
    const options = namespace && {
      providerOptions: { openai: { namespace: { name: namespace.name, description: namespace.description } } },
    };
    made[name] = tool({
      description: `Runs ${name}.`,
      inputSchema: jsonSchema({ type: 'object', properties: {} }),
      execute: () => given(result),
      toModelOutput: contentOutput,
      ...options,
    });
  }
  return made;
}

function given(result) {
  if (typeof result === 'string') return result;
  if (result.error !== undefined) throw new TypeError(result.error);
  return result.json ?? result;
}

function contentOutput({ output }) {
  if (output?.content === undefined)
    return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output };
  return {
    type: 'content',
    value: output.content.map((part) => {
      if (part.type === 'text') return part;
      const data = part.image ?? part.data;
      const file = data.startsWith('https:') ? { type: 'url', url: new URL(data) } : { type: 'data', data };
      return { type: 'file', data: file, mediaType: part.mediaType, ...(part.filename && { filename: part.filename }) };
    }),
  };
}

/** Returns the body of the second request of `ai`. */
async function secondBody(history) {
  const { options = {}, model = 'gpt-5.4', decision } = history;
  const server = await serve(history);
  try {
    const provider = createOpenAI({ baseURL: server.baseURL, apiKey: 'k' });
    const { top_logprobs: logprobs, ...others } = options;
    const openai = { store: false, ...camel(others), ...(logprobs && { logprobs }) };
    const common = {
      model: provider.responses(model),
      tools: toolsOf(history, provider),
      providerOptions: { openai },
      maxRetries: 0,
      stopWhen: isStepCount(2),
    };
    const messages = [{ role: 'user', content: 'When is high tide?' }];
    const first = await generateText({ ...common, messages });
    if (server.bodies.length > 1) return server.bodies[1];
    const approvals = first.content.filter(({ type }) => type === 'tool-approval-request');
    const answers = approvals.map(({ approvalId }) => ({
      type: 'tool-approval-response',
      approvalId,
      providerExecuted: true,
      approved: decision === 'approve',
      ...(decision?.deny && { reason: decision.deny }),
    }));
    const next = decision ? { role: 'tool', content: answers } : { role: 'user', content: 'Go on.' };
    await generateText({ ...common, messages: [...messages, ...first.response.messages, next] });
    return server.bodies[1];
  } finally {
    server.close();
  }
}

function withoutNulls(value) {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutNulls(inner)]));
}

/** Returns the paths at which two values differ, with both values. */
function differences(ours, theirs, path = '') {
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return [];
  const isTree = (value) => typeof value === 'object' && value !== null;
  if (!isTree(ours) || !isTree(theirs) || Array.isArray(ours) !== Array.isArray(theirs))
    return [{ path, ours, theirs }];
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return names.flatMap((name) => differences(ours[name], theirs[name], `${path}/${name}`));
}

/** The order of tools and of included data has no meaning. */
function sorted({ tools, include, ...body }) {
  const inOrder = (list) =>
    list &&
    [...list].sort((one, two) => JSON.stringify(one.type ?? one).localeCompare(JSON.stringify(two.type ?? two)));
  return { ...body, tools: inOrder(tools), include: inOrder(include) };
}

/** Removes items that only one side sends, so that the other items are compared with their counterparts. */
function aligned(ours, theirs) {
  const keyOf = (item) =>
    [item.type ?? item.role, item.call_id ?? item.approval_request_id ?? item.id ?? JSON.stringify(item.content)].join(
      ' ',
    );
  const only = (these, those) => these.filter((item) => !those.some((other) => keyOf(other) === keyOf(item)));
  const extra = [
    ...only(ours, theirs).map((item) => ({ path: '/input/+', ours: item, theirs: undefined })),
    ...only(theirs, ours).map((item) => ({ path: '/input/+', ours: undefined, theirs: item })),
  ];
  const both = (these, those) => these.filter((item) => those.some((other) => keyOf(other) === keyOf(item)));
  return [...extra, ...differences(both(ours, theirs), both(theirs, ours), '/input')];
}

const counts = new Map();
let unexplained = 0;
let same = 0;
let refused = 0;
for (const history of histories) {
  let theirs;
  try {
    theirs = await secondBody(history);
  } catch {
    // The AI SDK refuses some nulls that the API documents.
    refused += 1;
    theirs = await secondBody({ ...history, output: withoutNulls(history.output) });
  }
  const { input: mine, ...body } = history.sent;
  const { input, ...others } = theirs ?? { failure: 'no second request' };
  const found = [...differences(sorted(body), sorted(others)), ...(input ? aligned(mine, input) : [])];
  if (found.length === 0) same += 1;
  for (const difference of found) {
    const explanation = explanationOf(difference, history);
    if (explanation === undefined) {
      unexplained += 1;
      console.log(
        `${history.name}: ${difference.path}\n  Keelson: ${JSON.stringify(difference.ours)}\n  ai:      ${JSON.stringify(difference.theirs)}`,
      );
    } else counts.set(explanation, (counts.get(explanation) ?? 0) + 1);
  }
}
for (const [explanation, count] of counts) console.log(`${count} x ${explanation}`);
console.log(`${refused} x The AI SDK refuses the response because of a null.`);
console.log(`${histories.length} histories, ${same} with equal requests, ${unexplained} unexplained differences.`);
process.exitCode = unexplained > 0 ? 1 : 0;
