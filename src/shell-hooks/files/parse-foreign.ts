import { MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import type { HookRegistration } from '../hook/definition.js';
import type { HookDialect, HookEvent } from '../hook/event.js';
import { portable } from './portable-command.js';
import { type HookContent, type HookSource, reportOn } from './source.js';

const CLAUDE_EVENTS: Readonly<Record<string, HookEvent>> = {
  SessionStart: 'session_start',
  UserPromptSubmit: 'before_agent',
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  PostToolUseFailure: 'after_tool',
  Stop: 'after_agent',
  SessionEnd: 'session_end',
};
const GEMINI_EVENTS: Readonly<Record<string, HookEvent>> = {
  SessionStart: 'session_start',
  BeforeAgent: 'before_agent',
  BeforeModel: 'before_model',
  BeforeToolSelection: 'before_tool_selection',
  AfterModel: 'after_model',
  BeforeTool: 'before_tool',
  AfterTool: 'after_tool',
  AfterAgent: 'after_agent',
  SessionEnd: 'session_end',
};
type Foreign = Exclude<HookDialect, 'native'>;
const EVENTS = { claude: CLAUDE_EVENTS, codex: CLAUDE_EVENTS, gemini: GEMINI_EVENTS } as const;

/** Events of theirs that there is no such point for here; those that could stop something are missed. */
const OTHER_EVENTS: readonly string[] = [
  ...['Setup', 'UserPromptExpansion', 'PostToolBatch', 'MessageDisplay', 'Notification', 'PermissionDenied'],
  ...['SubagentStart', 'SubagentStop', 'TeammateIdle', 'TaskCreated', 'TaskCompleted', 'InstructionsLoaded'],
  ...['ConfigChange', 'CwdChanged', 'FileChanged', 'DirectoryAdded', 'WorktreeCreate', 'WorktreeRemove'],
  ...['Elicitation', 'ElicitationResult', 'StopFailure', 'PreCompact', 'PostCompact', 'PreCompress', 'Interrupt'],
  'PermissionRequest',
];
const OTHER_GATES: readonly string[] = [
  ...['PermissionRequest', 'UserPromptExpansion', 'SubagentStop', 'TaskCreated', 'TaskCompleted', 'TeammateIdle'],
  ...['ConfigChange', 'Elicitation', 'PostToolBatch', 'PreCompact'],
];

/** Where a matcher means something in their files. */
const MATCHED: readonly HookEvent[] = ['session_start', 'before_tool', 'after_tool', 'session_end'];

/** Where a hook stands in the file. */
interface Place {
  readonly theirs: string;
  readonly event: HookEvent;
  readonly matcher: unknown;
  readonly index: number;
}

/** Reads the `hooks` of a file of Claude Code, Codex or Gemini CLI. The rest of the file is not looked at. */
export function parseForeignHooks(document: Readonly<Record<string, unknown>>, source: HookSource): HookContent {
  const { hooks: map } = document;
  const stray = Object.keys(document).find((key) => Object.hasOwn(eventsOf(source), key));
  if (stray !== undefined) {
    const message = `"${stray}" stands beside \`hooks\`, not in it: its hooks do not run.`;
    reportOn(source, { level: 'error', code: 'hooks-invalid', message });
  }
  if (map === undefined) return { hooks: [] };
  if (!isObject(map)) {
    reportOn(source, { level: 'error', code: 'hooks-invalid', message: '`hooks` is no object.' });
    return { hooks: [] };
  }
  const isOn = switchedOn(document, source);
  const { disabled: _disabled, enabled: _enabled, ...events } = map;
  const hooks = Object.entries(events).flatMap(([theirs, groups]) => parseEvent(theirs, groups, source));
  explainDefaults(hooks, source);
  return { hooks: hooks.filter(isOn) };
}

/** Which hooks the user has not switched off. A file of the workspace has no say in that. */
function switchedOn(
  document: Readonly<Record<string, unknown>>,
  source: HookSource,
): (hook: HookRegistration) => boolean {
  const { disableAllHooks, hooksConfig, hooks } = document;
  const settings = [hooksConfig, hooks].filter(isObject);
  const isAllOff = disableAllHooks === true || settings.some(({ enabled }) => enabled === false);
  const names = settings.flatMap(({ disabled }) => (Array.isArray(disabled) ? (disabled as unknown[]) : []));
  if (!isAllOff && names.length === 0) return () => true;
  const isIgnored = source.scope === 'workspace';
  const message = isIgnored
    ? 'What switches hooks off is not read from a file of the workspace.'
    : 'Hooks are switched off in this file.';
  reportOn(source, { level: isIgnored ? 'warning' : 'info', code: 'hooks-switched-off', message });
  return ({ name, command }) => isIgnored || !(isAllOff || names.includes(name) || names.includes(command));
}

function parseEvent(theirs: string, groups: unknown, source: HookSource): HookRegistration[] {
  const event = Object.hasOwn(eventsOf(source), theirs) ? eventsOf(source)[theirs] : undefined;
  if (event === undefined) return refuseEvent(theirs, groups, source);
  if (!Array.isArray(groups)) return refuse(source, `\`hooks.${theirs}\` is no list`, event);
  let index = 0;
  return groups.flatMap((group: unknown) => {
    if (!isObject(group) || !Array.isArray(group.hooks)) {
      return refuse(source, `a group of \`hooks.${theirs}\` has no list of hooks`, event);
    }
    // Where they do not look at a matcher, one that is wrong does no harm.
    const matcher = MATCHED.includes(event) ? group.matcher : undefined;
    return group.hooks.flatMap((handler: unknown) => {
      index += 1;
      return handlerOf(handler, { theirs, event, matcher, index }, source);
    });
  });
}

function eventsOf({ dialect }: HookSource): Readonly<Record<string, HookEvent>> {
  return EVENTS[dialect as Foreign];
}

function refuseEvent(theirs: string, groups: unknown, source: HookSource): [] {
  if (!Array.isArray(groups) && !OTHER_EVENTS.includes(theirs)) {
    reportOn(source, { level: 'warning', code: 'key-ignored', message: `\`hooks.${theirs}\` is not read.` });
    return [];
  }
  const isKnown = OTHER_EVENTS.includes(theirs);
  const near = nearestName(theirs, Object.keys(eventsOf(source)));
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  const problem = isKnown ? `${theirs} does not exist here.` : `"${theirs}" is no event.${hint}`;
  const level = isKnown && !OTHER_GATES.includes(theirs) ? 'warning' : 'error';
  reportOn(source, { level, code: 'event-unsupported', message: `${problem} Its hooks do not run.` });
  return [];
}

/** A missing gate looks like an idle one: it has to be seen. */
function refuse(source: HookSource, problem: string, event: HookEvent): [] {
  const level = event === 'session_start' || event === 'session_end' ? 'warning' : 'error';
  reportOn(source, { level, code: 'hook-unsupported', message: `A hook does not run: ${problem}.` });
  return [];
}

function handlerOf(handler: unknown, place: Place, source: HookSource): HookRegistration[] {
  const name = `${source.extension ?? source.dialect}:${place.theirs}#${place.index}`;
  const problem = isObject(handler) ? unsupported(handler, place, source) : 'it is no object';
  if (!isObject(handler) || problem !== undefined) return refuse(source, `${name}: ${problem}`, place.event);
  const { command, args, timeout, onFailure } = handler;
  const { scope, extension, root, dialect } = source;
  // What they call a command is a text for bash.
  const shell = args === undefined || dialect === 'gemini' ? 'bash' : false;
  const settings = {
    ...(place.matcher !== undefined && { matcher: place.matcher }),
    ...(args !== undefined && { args }),
    ...(timeout !== undefined && { timeout: inMilliseconds(timeout, dialect) }),
    ...(onFailure !== undefined && { onFailure }),
    ...(dialect === 'gemini' && isObject(handler.env) && { env: handler.env }),
  };
  const registration = {
    ...{
      event: place.event,
      name: nameOf(handler, name),
      command: shell ? portable(command, dialect) : command,
      shell,
      ...settings,
    },
    ...{ scope, source: source.source, extension, root, dialect, dialectEvent: place.theirs },
  };
  return [registration as HookRegistration];
}

function nameOf({ name }: Readonly<Record<string, unknown>>, otherwise: string): string {
  return typeof name === 'string' && name.trim() !== '' ? name : otherwise;
}

/** Claude Code and Codex count seconds, Gemini CLI milliseconds. */
function inMilliseconds(timeout: unknown, dialect: HookDialect): unknown {
  if (dialect === 'gemini' || typeof timeout !== 'number') return timeout;
  // Many mean milliseconds: what no timer can wait for is no reason to leave a guard out.
  return Math.min(Math.round(timeout * 1_000), MAX_TIMER_MS);
}

function unsupported(
  handler: Readonly<Record<string, unknown>>,
  { matcher }: Place,
  { hasData, dialect }: HookSource,
): string | undefined {
  const { type = 'command', args, shell } = handler;
  if (type !== 'command') return `\`type: ${JSON.stringify(type)}\` is not supported, only "command"`;
  for (const key of ['if', 'async', 'asyncRewake'] as const) {
    if (handler[key] !== undefined && handler[key] !== false) return `\`${key}\` is not supported`;
  }
  if (args === undefined && shell !== undefined && shell !== 'bash') {
    return `\`shell: ${JSON.stringify(shell)}\` is not supported`;
  }
  // In a text for a shell it would be nothing, and `rm -r "$CLAUDE_PLUGIN_DATA/cache"` another folder.
  const texts: unknown[] = [handler.command, ...(Array.isArray(args) ? args : [])];
  const variable = dialect === 'codex' ? 'PLUGIN_DATA' : 'CLAUDE_PLUGIN_DATA';
  if (!hasData && texts.some((text) => typeof text === 'string' && text.includes(variable))) {
    return `there is no \`${variable}\``;
  }
  return matcher !== undefined && typeof matcher !== 'string' ? 'its `matcher` is no text' : undefined;
}

function explainDefaults(hooks: readonly HookRegistration[], source: HookSource): void {
  const info = (code: string, message: string) => reportOn(source, { level: 'info', code, message });
  if (source.dialect !== 'gemini' && hooks.some(({ timeout }) => timeout === undefined)) {
    info('timeout-default', 'A hook without a time has that of `hooks.timeout` here.');
  }
  if (hooks.some(({ dialectEvent }) => dialectEvent === 'AfterModel')) {
    info('after-model-once', 'AfterModel comes once a response here, not with each piece of it.');
  }
}
