import { isObject, type JsonObject } from '../../internal/json.js';
import type { HookEvent } from '../../programs/hook-event.js';
import { portable } from '../files/portable-command.js';
import { type HookContent, type HookSource, reportOn } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookEffects, HookReading } from '../hook/effects.js';
import { compilePermissionRule } from '../rule/permission-rule.js';
import { toolResponse } from './claude-results.js';
import type { Dialect } from './dialect.js';
import {
  type OutputFields,
  type OutputRules,
  parseOutput,
  readOutput,
  reasonOf,
  resultOf,
  specificOf,
  textOf,
} from './output.js';
import { type HookSettings, inMilliseconds, type JsonMap, parseEvents, problemOfType } from './parse-events.js';

const OTHER_EVENTS = {
  notices: [
    'Setup',
    'MessageDisplay',
    'PermissionDenied',
    'InstructionsLoaded',
    'CwdChanged',
    'FileChanged',
    'DirectoryAdded',
    'WorktreeCreate',
    'WorktreeRemove',
    'ElicitationResult',
    'StopFailure',
    'PostCompact',
    'Interrupt',
    'PostModelSwitch',
  ],
  gates: [
    'PermissionRequest',
    'UserPromptExpansion',
    'TaskCreated',
    'TaskCompleted',
    'TeammateIdle',
    'ConfigChange',
    'Elicitation',
    'PostToolBatch',
    'PreModelSwitch',
  ],
};

/** Hooks of Claude Code 2.1, as documented in November 2026. */
export const claude: Dialect = {
  id: 'claude',
  events: {
    SessionStart: { event: 'session_start' },
    UserPromptSubmit: { event: 'before_agent' },
    PreToolUse: { event: 'before_tool' },
    PostToolUse: { event: 'after_tool', after: 'success' },
    PostToolUseFailure: { event: 'after_tool', after: 'failure' },
    Stop: { event: 'after_agent' },
    SessionEnd: { event: 'session_end' },
    Notification: { event: 'notification' },
    SubagentStart: { event: 'before_subagent' },
    SubagentStop: { event: 'after_subagent' },
    PreCompact: { event: 'before_compaction' },
  },
  otherEvents: OTHER_EVENTS,
  places: {
    user: ['.claude/settings.json'],
    workspace: ['.claude/settings.json', '.claude/settings.local.json', '.claude/hooks.json'],
  },
  folders: { project: ['CLAUDE_PROJECT_DIR'], extension: ['CLAUDE_PLUGIN_ROOT'] },
  worksIn: 'workspace',
  refusedAnswer: 'continued',
  hasForeignTools: true,
  toolFields: {
    Bash: ['command'],
    Read: ['file_path'],
    Write: ['file_path', 'content'],
    Edit: ['file_path', 'old_string', 'new_string'],
    NotebookEdit: ['notebook_path', 'new_source'],
    Glob: ['pattern'],
    Grep: ['pattern'],
    WebFetch: ['url', 'prompt'],
    WebSearch: ['query'],
    Agent: ['prompt', 'description'],
  },
  matchesSources: true,
  readsTranscripts: true,
  runsOnce: true,
  pluginTool: (plugin, tool) => `mcp__plugin_${plugin}_${tool}`,
  parse: (document, source) => parseClaude(document, source, 'CLAUDE_PLUGIN_DATA'),
  input: toolResponse,
  detaches: isAsyncNotice,
  read: (run) => readWithoutNotice(run, RULES),
};

/** Returns true for the line `{"async": true}`. With it, a hook says that Keelson does not need to wait for it. */
function isAsyncNotice(line: string): boolean {
  return parseOutput(line).output?.async === true;
}

/** Interprets the output of a hook of Claude Code, without a first line `{"async": true}`. */
export function readWithoutNotice(run: FinishedHook, rules: OutputRules): HookReading {
  const { result } = run;
  const [first = '', ...rest] = result.stdout.split('\n');
  return readOutput(isAsyncNotice(first) ? { ...run, result: { ...result, stdout: rest.join('\n') } } : run, rules);
}

/** Names a file to which hooks of Claude Code write variables for later commands. */
const VARIABLES_FILE = 'CLAUDE_ENV_FILE';

/** Parses a hook file in the format of Claude Code. `dataVariable` names the data directory that only plugins get. */
export function parseClaude(document: JsonMap, source: HookSource, dataVariable: string): HookContent {
  if (JSON.stringify(document).includes('"asyncRewake":true')) {
    const message = '`asyncRewake` does not wake the model here: what such a hook writes is a message for the user.';
    reportOn(source, { level: 'warning', code: 'key-ignored', message });
  }
  return parseEvents(document, source, {
    events: claude.events,
    other: OTHER_EVENTS,
    isGrouped: true,
    matched: [
      'session_start',
      'before_tool',
      'after_tool',
      'session_end',
      'notification',
      'before_subagent',
      'after_subagent',
      'before_compaction',
    ],
    hasDefaultTimeout: true,
    read: (entry) => readEntry(entry, source, dataVariable),
  });
}

function readEntry(entry: JsonMap, source: HookSource, dataVariable: string): HookSettings | string {
  const problem = problemOfEntry(entry, source, dataVariable);
  if (problem !== undefined) return problem;
  const { command, args, timeout, onFailure } = entry;
  if (textsOf(entry).some((text) => text.includes(VARIABLES_FILE))) {
    const message = `A hook names \`${VARIABLES_FILE}\`, which is not set here: variables that the hook writes for later commands are lost. Set them where the agent starts.`;
    reportOn(source, { level: 'warning', code: 'variable-unsupported', message });
  }
  // Without `args`, the command is a string for bash.
  const isText = args === undefined;
  return {
    command: isText ? portable(command, 'claude') : command,
    shell: isText ? 'bash' : false,
    args,
    timeout: inMilliseconds(timeout),
    onFailure,
    condition: entry.if,
    // `asyncRewake` would wake the model after exit code 2. Here such a hook only runs.
    background: entry.async === true || entry.asyncRewake === true ? true : undefined,
  };
}

/** Returns the reason why a hook entry in the format of Claude Code cannot run; undefined if it can. */
export function problemOfEntry(entry: JsonMap, { hasData }: HookSource, dataVariable: string): string | undefined {
  const { args, shell } = entry;
  const type = problemOfType(entry);
  if (type !== undefined) return type;
  const { if: rule } = entry;
  if (rule !== undefined && (typeof rule !== 'string' || compilePermissionRule(rule) === undefined)) {
    return `\`if\` must be one permission rule such as "Bash(git push *)", got ${JSON.stringify(rule)}`;
  }
  if (args === undefined && shell !== undefined && shell !== 'bash') {
    return `\`shell\` must be "bash", got ${JSON.stringify(shell)}`;
  }
  // A shell expands an unset variable to an empty string, so `rm -r "$CLAUDE_PLUGIN_DATA/cache"` would delete `/cache`.
  const needsData = textsOf(entry).some((text) => text.includes(dataVariable));
  return needsData && !hasData ? `it uses \`${dataVariable}\`, which only plugins get` : undefined;
}

/** The strings of the command line of an entry. */
function textsOf({ command, args }: JsonMap): readonly string[] {
  const texts: readonly unknown[] = [command, ...(Array.isArray(args) ? args : [])];
  return texts.filter((text) => typeof text === 'string');
}

const DECISIONS = ['', 'allow', 'deny', 'ask', 'defer', 'approve', 'block'];
const FIELDS: OutputFields = {
  decision: DECISIONS,
  reason: 'text',
  stopReason: 'text',
  systemMessage: 'text',
  hookSpecificOutput: {
    permissionDecision: DECISIONS,
    permissionDecisionReason: 'text',
    additionalContext: 'text',
    updatedInput: 'object',
  },
};

/**
 * Returns the output rules of Claude Code. Exit code 2 refuses. Apart from a refusal, standard output counts only with
 * exit code 0. `refuseResult` returns the effects of a refusal at `after_tool`.
 */
export function claudeRules(refuseResult: (reason: string) => HookEffects): OutputRules {
  const refusal = ({ hook: { event } }: FinishedHook, reason: string): HookEffects => {
    if (event === 'before_tool' || event === 'before_agent' || event === 'before_compaction') return { cancel: reason };
    // The sub-agent has ended already, so its caller reads the reason.
    if (event === 'after_subagent') return { modelTexts: [reason] };
    if (event === 'after_agent') return { again: reason };
    return event === 'after_tool' ? refuseResult(reason) : { userText: reason };
  };
  return {
    fields: FIELDS,
    exitCode2: refusal,
    refusal: (output, run) => {
      const { reason, isRefused, asks } = decisionOf(output);
      const { event } = run.hook;
      const stops = output.continue === false && event !== 'session_start';
      return {
        ...(isRefused ? refusal(run, reason) : {}),
        ask: event === 'before_tool' && asks ? reason : undefined,
        stop: stops ? reasonOf(output, 'stopReason') : undefined,
      };
    },
    effects: effectsOf,
    read: readFields,
    // Invalid JSON that begins with `{` is a failure. Any other text is context for the model, or is ignored.
    text: ({ hook, result: { stdout } }) =>
      stdout.trimStart().startsWith('{') ? undefined : plainText(hook.event, stdout),
  };
}

const COMMON_FIELDS = [
  'decision',
  'reason',
  'systemMessage',
  'hookSpecificOutput.permissionDecision',
  'hookSpecificOutput.permissionDecisionReason',
  'hookSpecificOutput.additionalContext',
];
const UPDATED_RESULT = ['hookSpecificOutput.updatedToolOutput', 'hookSpecificOutput.updatedMCPToolOutput'];

function readFields({ event }: ShellHook): readonly string[] {
  return [
    ...COMMON_FIELDS,
    ...(event === 'session_start' ? [] : ['continue', 'stopReason']),
    ...(event === 'before_tool' ? ['hookSpecificOutput.updatedInput'] : []),
    ...(event === 'after_tool' ? UPDATED_RESULT : []),
  ];
}

/** The model gets a refused result together with the reason. */
const RULES = claudeRules((reason) => ({ modelTexts: [reason] }));

function plainText(event: HookEvent, stdout: string): HookEffects {
  const text = textOf(stdout.trim());
  const isContext = event === 'session_start' || event === 'before_agent';
  return isContext && text !== undefined ? { modelTexts: [text] } : {};
}

/** Returns the decision in an output. `allow` has no effect, because it must not override a refusal. */
function decisionOf(output: JsonObject): { reason: string; isRefused: boolean; asks: boolean } {
  const { permissionDecision } = specificOf(output);
  const says = (...words: unknown[]) => words.includes(permissionDecision) || words.includes(output.decision);
  return { reason: reasonOf(output), isRefused: says('deny', 'block'), asks: says('ask', 'defer') };
}

function effectsOf(output: JsonObject, { hook: { event } }: FinishedHook, refusal: HookEffects): HookEffects {
  const { additionalContext, updatedInput, updatedToolOutput, updatedMCPToolOutput } = specificOf(output);
  const context = textOf(additionalContext);
  // At `after_agent`, context for the model makes the agent continue.
  const again = event === 'after_agent' ? (refusal.again ?? context) : undefined;
  const modelTexts = [...(refusal.modelTexts ?? []), ...(context === undefined || context === again ? [] : [context])];
  const result = event === 'after_tool' ? (updatedToolOutput ?? updatedMCPToolOutput ?? undefined) : undefined;
  return {
    ...refusal,
    again,
    input: event === 'before_tool' && isObject(updatedInput) ? (updatedInput as JsonObject) : undefined,
    result: refusal.result ?? (result === undefined ? undefined : resultOf(result)),
    modelTexts: modelTexts.length > 0 ? modelTexts : undefined,
    userText: textOf(output.systemMessage) ?? refusal.userText,
  };
}
