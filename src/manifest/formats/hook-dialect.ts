import { isObject, type JsonObject } from '../../internal/json.js';
import { eventNames } from '../../shell-hooks/dialects/dialect.js';
import { dialectOf } from '../../shell-hooks/dialects/list.js';
import type { HookDialect } from '../../shell-hooks/hook/event.js';

const DIALECTS = ['claude', 'gemini'] as const;

type CompatDialect = (typeof DIALECTS)[number];

/**
 * Returns the dialect of a hook file by its event names, or else by the variables in its commands. If both dialects
 * fit, returns `named`, the dialect of the manifest. The manifest alone cannot decide, because a package with manifests
 * of two programs has only one hook file.
 */
export function hookDialectOf(document: JsonObject, named: HookDialect): HookDialect {
  const events = isObject(document.hooks) ? Object.keys(document.hooks) : [];
  const text = JSON.stringify(document.hooks ?? null);
  return (
    soleDialect((dialect) => eventsOnlyIn(dialect).some((name) => events.includes(name))) ??
    soleDialect((dialect) => text.includes(ROOT[dialect])) ??
    named
  );
}

/** The variable with the directory of the package. */
const ROOT = { claude: 'CLAUDE_PLUGIN_ROOT', gemini: 'extensionPath' } as const;

/** Returns the dialect that matches, or undefined if none or both match. */
function soleDialect(matches: (dialect: CompatDialect) => boolean): CompatDialect | undefined {
  const found = DIALECTS.filter(matches);
  return found.length === 1 ? found[0] : undefined;
}

/** Returns the events of a program, supported or not, that the other program does not have. */
function eventsOnlyIn(dialect: CompatDialect): readonly string[] {
  const others = DIALECTS.filter((other) => other !== dialect).flatMap((other) => eventNames(dialectOf(other)));
  return eventNames(dialectOf(dialect)).filter((name) => !others.includes(name));
}
