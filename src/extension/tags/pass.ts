import { runCallback } from '../callbacks/callback.js';
import type { TextEdit } from '../callbacks/text-edit.js';
import { acceptText } from '../callbacks/text-result.js';
import type { ExtensionContext, TagContext } from '../context.js';
import type { HandlerSite } from '../plan.js';
import { matchesTag } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit } from '../short-circuit.js';
import { pairTags } from './pairs.js';
import { attributesOf, scanTags, type TagToken } from './scanner.js';

interface OpenSection {
  readonly tag: TagToken;
  content: string;
}

/**
 * Calls the handlers of each section, inner sections first. Returns the edits that replace the outermost sections. Tags
 * in the strings that handlers return are ignored.
 */
export async function passTags(run: ExtensionRun, text: string): Promise<readonly TextEdit[]> {
  const handlersOf = handlersByName(run);
  const tokens = pairTags(
    scanTags(text, {
      isWanted: (name) => handlersOf(name).length > 0,
      isWantedInCode: (name) => handlersOf(name).some(({ handler }) => handler.inCode === true),
    }),
  );
  const sections: TextEdit[] = [];
  const open: OpenSection[] = [];
  let done = 0;
  for (const tag of tokens) {
    const outer = open.at(-1);
    if (outer !== undefined) outer.content += text.slice(done, tag.start);
    done = tag.end;
    if (tag.kind === 'open') {
      open.push({ tag, content: '' });
      continue;
    }
    const section = tag.kind === 'empty' ? { tag, content: '' } : (open.pop() as OpenSection);
    const markup = { before: text.slice(section.tag.start, section.tag.end), after: markupAfter(text, tag) };
    const sites = handlersOf(tag.name).filter(({ handler }) => handler.inCode || !section.tag.inCode);
    const result = await handleSection(run, sites, { ...section, ...markup });
    const parent = open.at(-1);
    if (parent === undefined) sections.push({ start: section.tag.start, end: tag.end, text: result });
    else parent.content += result;
  }
  return sections;
}

function markupAfter(text: string, { kind, start, end }: TagToken): string {
  return kind === 'close' ? text.slice(start, end) : '';
}

function handlersByName({ plan }: ExtensionRun): (name: string) => readonly HandlerSite[] {
  const known = new Map<string, readonly HandlerSite[]>();
  return (name) => {
    const found = known.get(name) ?? plan.handlers.filter(({ handler }) => matchesTag(handler.tags, name));
    known.set(name, found);
    return found;
  };
}

interface Section extends OpenSection {
  readonly before: string;
  readonly after: string;
}

/** Returns the replacement of a section, or the section with its markup if no handler returns a string. */
async function handleSection(run: ExtensionRun, sites: readonly HandlerSite[], section: Section): Promise<string> {
  const { tag } = section;
  run.handledTags.add(tag.name);
  let { content } = section;
  let isReplaced = false;
  for (const { registration, handler } of sites) {
    const given = content;
    const result = await runCallback(run, registration, {
      name: 'onTag',
      call: (context) => handler.handle.call(registration.source, tag.name, given, describe(context, section)),
      accept: acceptText('onTag'),
    });
    if (isShortCircuit(result)) return result.text;
    if (typeof result !== 'string') continue;
    content = result;
    isReplaced = true;
  }
  return isReplaced ? content : section.before + content + section.after;
}

function describe(context: ExtensionContext, section: Section): TagContext {
  return Object.defineProperties(context, {
    attributes: { get: () => attributesOf(section.tag), enumerable: true },
    section: { get: () => section.before + section.content + section.after, enumerable: true },
  }) as TagContext;
}
