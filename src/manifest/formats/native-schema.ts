import { z } from 'zod';
import { MAX_TIMER_MS } from '../../internal/clock.js';
import type { JsonSchema } from '../../internal/json.js';
import { isRefusedName } from '../../process/environment.js';
import { portableNameProblem } from '../../process/files/portable-name.js';
import { problemOfRelativePath } from '../../process/files/relative-path.js';
import { SKILL_NAME } from '../../skills/skill.js';
import { expectedOf, fitsSetting } from '../settings/type.js';
import { type KeyRules, PLAIN_KEYS } from './keys.js';

const text = z.string().min(1);
const texts = z.array(z.string());
const textMap = z.record(z.string(), z.string());
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const timeout = z.number().min(1).max(MAX_TIMER_MS);

const RESERVED = ['__proto__', 'constructor', 'prototype'];

/** Reports the problem that `problemOf` finds in a value. */
function problemIn<Value>(problemOf: (value: Value) => string | undefined) {
  return z.check<Value>(({ value, issues }) => {
    const message = problemOf(value);
    if (message !== undefined) issues.push({ code: 'custom', message, input: value });
  });
}

/** Reports each entry of a list whose name an earlier entry has. */
function distinct<Entry>(nameOf: (entry: Entry) => string | undefined) {
  return z.check<Entry[]>(({ value, issues }) => {
    const names = new Set<string>();
    for (const [at, entry] of value.entries()) {
      const name = nameOf(entry);
      const message = `the name "${name}" is already used by an earlier entry`;
      if (name !== undefined && names.has(name))
        issues.push({ code: 'custom', path: [at, 'name'], message, input: entry });
      else if (name !== undefined) names.add(name);
    }
  });
}

function matching(max: number, pattern: RegExp, rule: string) {
  return z.string().min(1).max(max).regex(pattern, rule);
}

/** Schema of a name that may become an object key. */
function named(max: number, pattern: RegExp, rule: string) {
  return matching(max, pattern, rule).refine(
    (name) => !RESERVED.includes(name),
    'the name is reserved: choose another name',
  );
}

/** Schema of a name that may also become a file name or a command argument, on any platform. */
function portable(max: number, pattern: RegExp, rule: string) {
  return matching(max, pattern, rule).check(problemIn(portableNameProblem));
}

const extensionName = portable(
  64,
  /^(?!\.$)(?!.*\.\.)[A-Za-z0-9._-]+$/,
  'a name must consist of letters, digits, ".", "_" and "-", without ".."',
);
/** The only required key in a manifest of another program. */
export const namedSchema = z.looseObject({ name: extensionName });

const label = named(128, /^\P{Cc}+$/u, 'a name must not contain control characters');
const skillLabel = portable(64, SKILL_NAME, 'a name must not contain control characters or ":"');

const hookFields = {
  name: label,
  command: text.meta({ description: 'A program: a path in the extension, an absolute path, or a bare name.' }),
  args: texts.optional(),
  shell: z
    .union([z.boolean(), z.literal('bash')])
    .optional()
    .meta({ description: 'If true, /bin/sh runs `command`; with `bash`, bash runs it.' }),
  matcher: z.string().optional(),
  timeout: timeout.optional().meta({ description: 'Time limit in milliseconds.' }),
  env: textMap.optional(),
  cwd: text.optional(),
  onFailure: z.enum(['continue', 'block']).optional(),
  exitCodes: z.boolean().optional(),
  files: texts.optional(),
  reads: texts.optional(),
  sensitive: texts.optional(),
};

const hookEntry = z.object({ ...hookFields, event: text });
const hookUnderEvent = z.object({ ...hookFields, event: text.optional() });

const TRANSPORTS = ['stdio', 'sse', 'http', 'streamable-http'] as const;

const serverEntry = z
  .looseObject({
    transport: z.enum(TRANSPORTS).optional(),
    type: z.enum(TRANSPORTS).optional(),
    command: text.optional(),
    args: texts.optional(),
    env: textMap.optional(),
    cwd: text.optional(),
    url: text.optional(),
    headers: textMap.optional(),
    includeTools: texts.optional(),
    excludeTools: texts.optional(),
    timeout: timeout.optional(),
    disabled: z.boolean().optional(),
  })
  .check(({ value, issues }) => {
    const add = (key: string, message: string): void => {
      issues.push({ code: 'custom', path: [key], message, input: value[key], continue: true });
    };
    const { url, command, args } = value;
    const isRemote = (value.transport ?? value.type ?? 'stdio') !== 'stdio';
    if (isRemote && command === undefined) {
      if (url === undefined) add('url', 'it is missing');
      return;
    }
    if (url !== undefined)
      add(
        'url',
        isRemote
          ? 'it must not be given with `command`: remove one of the two'
          : 'it needs a `transport`: "sse" or "http"',
      );
    if (command === undefined) add('command', 'it is missing');
    if (args === undefined) add('args', 'it is missing: use [] for no arguments');
  })
  .meta({
    anyOf: [
      { required: ['command', 'args'] },
      { required: ['transport', 'url'], properties: { transport: { enum: TRANSPORTS.slice(1) } } },
      { required: ['type', 'url'], properties: { type: { enum: TRANSPORTS.slice(1) } } },
    ],
  });

/** A default value. `null` and an empty array mean that the setting or parameter has no default. */
const defaultValue = z
  .union([scalar, z.null(), z.array(scalar).max(0, 'it must be a string, a number or a boolean')])
  .transform((value) => (value === null || Array.isArray(value) ? undefined : value))
  .optional();

/** Schema of a setting, shared by all formats. */
export const settingEntry = z
  .object({
    name: label,
    description: text,
    envVar: z
      .string()
      .regex(/^[A-Za-z_]\w*$/, 'a variable name must consist of letters, digits and "_"')
      .refine(
        (name) => !isRefusedName(name),
        'this variable can make another program run: choose a variable of your own',
      )
      .optional(),
    sensitive: z.boolean().optional().meta({ description: 'If true, the value is redacted in logs.' }),
    required: z.boolean().optional(),
    type: z.enum(['string', 'number', 'boolean']).optional(),
    default: defaultValue,
    enum: z.array(scalar).min(1).optional(),
  })
  .check(({ value: setting, issues }) => {
    const values = [
      [['default'], setting.default] as const,
      ...(setting.enum ?? []).map((choice, at) => [['enum', at], choice] as const),
    ];
    for (const [path, input] of values) {
      if (input === undefined || fitsSetting(setting, input)) continue;
      issues.push({ code: 'custom', path: [...path], message: `it must be ${expectedOf(setting)}`, input });
    }
  });

const parameterFields = {
  description: z.string().optional(),
  required: z.boolean().optional(),
  default: defaultValue,
};
const parameterName = named(64, /^[A-Za-z_][\w-]*$/, 'a parameter name must consist of letters, digits, "_" and "-"');

const parameterEntry = z.object({ name: parameterName, ...parameterFields });

const skillEntry = z.object({
  name: skillLabel,
  description: text,
  prompt: text,
  parameters: z
    .union([
      z.array(parameterEntry),
      z
        .record(z.string(), z.object(parameterFields))
        .transform((byName) => Object.entries(byName).map(([name, rest]) => ({ name, ...rest }))),
    ])
    .optional(),
});

/** Schema of a `manifest.json`. Unknown keys are allowed here; the reader warns about them. */
export const manifestSchema = z.looseObject({
  $schema: z.string().optional(),
  name: extensionName,
  version: z
    .string()
    .regex(
      /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/,
      'a version must have a form such as 1.0.0 or 1.0.0-beta.1',
    ),
  description: text,
  mcpServers: z.record(label, serverEntry).optional(),
  hooks: z
    .union([
      z.array(hookEntry),
      z
        .object({
          timeout: timeout.optional().meta({ description: 'Time limit in milliseconds of each hook without its own.' }),
          hooks: z.array(hookEntry).optional().meta({ description: 'An array of hooks that name their `event`.' }),
        })
        .catchall(z.array(hookUnderEvent))
        .check(({ value: { timeout: _timeout, hooks: _hooks, ...byEvent }, issues }) => {
          for (const [key, list] of Object.entries(byEvent)) {
            for (const [at, { event = key }] of list.entries()) {
              if (event === key) continue;
              const message = `it must be ${JSON.stringify(key)}, the event that lists it, got ${JSON.stringify(event)}`;
              issues.push({ code: 'custom', path: [key, at, 'event'], message, input: event });
            }
          }
        }),
    ])
    .optional()
    .meta({
      description: 'An array of hooks, or an object with `timeout` and either an array per event or one array `hooks`.',
    }),
  settings: z
    .array(settingEntry)
    .check(distinct(({ name }) => name))
    .optional(),
  skills: z
    .array(z.union([skillEntry, text.check(problemIn(problemOfRelativePath))]))
    .check(distinct((skill) => (typeof skill === 'string' ? undefined : skill.name.toLowerCase())))
    .optional()
    .meta({ description: 'Skills, or paths of directories whose subdirectories contain a SKILL.md.' }),
});

/** The content of a `manifest.json`. */
export type ManifestFile = z.infer<typeof manifestSchema>;

/** The keys of a manifest and of the objects in it. */
export const KEYS: KeyRules = {
  ...keysOf(manifestSchema, PLAIN_KEYS),
  entries: {
    hooks: keysOf(hookEntry, ['description', 'title']),
    settings: keysOf(settingEntry, ['title']),
    skills: {
      ...keysOf(skillEntry, ['title', 'tags']),
      entries: { parameters: keysOf(parameterEntry, ['title', 'type', 'enum']) },
    },
  },
};

function keysOf({ shape }: { readonly shape: object }, plain: readonly string[]): KeyRules {
  return { read: Object.keys(shape), plain };
}

/**
 * Returns the JSON Schema of `manifest.json` (draft 2020-12), for editors and other validators.
 *
 * @example
 * await writeFile('manifest.schema.json', JSON.stringify(manifestJsonSchema(), null, 2));
 */
export function manifestJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(manifestSchema, { io: 'input' });
  return { $schema, title: 'Extension manifest', ...schema };
}
