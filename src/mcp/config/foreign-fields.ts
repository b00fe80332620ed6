import { MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject, isTexts } from '../../internal/json.js';
import { known } from '../../programs/cell.js';
import { programOf, serverCells } from '../../programs/list.js';
import { loose } from '../../programs/loose.js';
import type { McpServerOrigin } from './definition.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Renames the fields of another program to the names that Keelson uses, and converts their values to the right type. If
 * both names of a field are present, the other program's field is kept and reported as unknown.
 */
export function translate(given: Fields, { program }: McpServerOrigin): Fields {
  const { enabled, ...own } = renamed(opened(loose.object(given)));
  const { transport, type = transport, command, args, timeout, disabled } = own;
  const parts = Array.isArray(command) ? [...(command as unknown[]), ...(Array.isArray(args) ? args : [])] : undefined;
  const isOn = loose.boolean(enabled);
  const fields: Record<string, unknown> = {
    ...own,
    command: loose.text(parts === undefined ? command : parts[0]),
    args: loose.texts(parts === undefined ? args : parts.slice(1)),
    env: loose.textMap(own.env),
    headers: loose.textMap(own.headers),
    // A remote server may speak Streamable HTTP or SSE.
    type: loose.word(type) === 'remote' ? undefined : type,
    transport: undefined,
    timeout: inMilliseconds(loose.number(timeout), program),
    disabled: typeof isOn === 'boolean' ? loose.boolean(disabled) === true || !isOn : loose.boolean(disabled),
    enabled: typeof isOn === 'boolean' ? undefined : enabled,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Moves the fields of an inner object, such as `transport` of Cline, to the server. */
function opened(server: Fields): Fields {
  const inner = serverCells((table) => table.inner).find((name) => name !== undefined && isObject(server[name]));
  if (inner === undefined) return server;
  const { [inner]: fields, ...outer } = server;
  return { ...loose.object(fields as Fields), ...outer };
}

function renamed(given: Fields): Fields {
  const fields: Record<string, unknown> = {};
  const names = new Map(serverCells((table) => table.fields).flatMap((ours) => Object.entries(ours)));
  for (const [theirs, value] of Object.entries(given)) {
    const ours = names.get(theirs);
    if (theirs === 'disabledTools') fields.excludeTools = [given.excludeTools ?? [], value].flat();
    else if (ours === undefined) fields[theirs] ??= value;
    // The field `tools` of some programs is not a list of names.
    else if (given[ours] !== undefined || fields[ours] !== undefined || (ours === 'includeTools' && !isTexts(value)))
      fields[theirs] = value;
    else fields[ours] = value;
    if (theirs === 'httpUrl' && fields.url === value) fields.type = given.type ?? given.transport ?? 'http';
  }
  return fields;
}

function inMilliseconds(timeout: unknown, program: string | undefined): unknown {
  const unit = known(programOf(program)?.servers?.timeUnit, 'milliseconds');
  return unit === 'seconds' && typeof timeout === 'number' ? Math.min(timeout * 1_000, MAX_TIMER_MS) : timeout;
}
