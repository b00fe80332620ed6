import { type Dir, opendirSync } from 'node:fs';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { homeFolder } from '../../process/files/home-folder.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { ItemUnboundError } from '../error.js';
import { type BindingLimits, EXTENSION_PATH } from '../item.js';
import { namesIn } from './command-words.js';
import { leadsByOwnPlace } from './own-place.js';

/** Where the files of an item are looked for. */
export interface FilePlaces {
  /** The folder beside that of the extension whose files are bound where the command line names them. */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The folder of the extension, without links. */
  readonly root: string | undefined;
  /** A folder beside which the copy of the extension will lie that is started in its place. */
  readonly copy: string | undefined;
  readonly cwd: string;
  readonly limits: BindingLimits;
}

/** What Node, `python -m`, `perl -M` and their like find a script under without its being written. */
const SUFFIXES = [
  ...['', '.js', '.cjs', '.mjs', '.json', '.node', '.ts', '.mts', '.cts', '.tsx', '.jsx'],
  ...['.py', '/__init__.py', '/__main__.py', '.pm', '.rb', '.lua'],
];

/** What a shell puts the home folder in the place of, whoever's it says it is. */
const AT_HOME = /~[\w.-]*(?=\/)|\$(?:HOME\b|\{HOME\b[^{}]*\})/g;

const MANY_NAMES = 2_500;
const MANY_PATHS = 16_000;
/** Names by the folders that they are looked for in. */
const MANY_LOOKS = 50_000;
/** Of a folder with more it is not worth while to know what it holds. */
const MANY_ENTRIES = 5_000;
/** No argument is longer on Linux; what nobody reads may be no longer in all, since looking through it holds others up. */
const LONG_LINE = 131_072;
/** What is longer is no path to any system but Windows. */
const LONG_PATH = process.platform === 'win32' ? 32_768 : 4_096;

/** What git writes at each step: that `.git` is there is often asked beside it, and no question is to follow each commit. */
const GIT_STATE = /^(?:[A-Z_]*HEAD|index)$/;

const STEP = sep === '/' ? '/' : /[\\/]/;

/** Every path that the words of a command line could mean. Those that are added while it is gone through come last. */
export class NamedPaths {
  readonly list = new Set<string>();
  private readonly names = new Set<string>();
  /** Where names are looked for, each with what lies there. */
  private readonly bases = new Map<string, ReadonlySet<string> | undefined>();
  private readonly checked = new Set<string>();
  private looks = 0;

  /** `realCwd` is the folder that a program finds itself in, `cwd` how that was named. */
  constructor(
    private readonly places: FilePlaces,
    private readonly realCwd: string,
  ) {
    const { cwd, around, root = around.real } = places;
    for (const base of [cwd, realCwd, around.real, root]) this.bases.set(base, entriesOf(base));
  }

  add(words: readonly string[]): void {
    if (words.reduce((sum, { length }) => sum + length, 0) > LONG_LINE) {
      throw new ItemUnboundError('too-large', `Its command line has more than ${LONG_LINE} characters.`);
    }
    for (const name of words.flatMap((word) => this.readings(word)).flatMap((word) => namesIn(word))) {
      if (this.names.has(name) || name.length >= LONG_PATH) continue;
      this.names.add(name);
      for (const base of this.bases.keys()) this.addName(name, base);
    }
  }

  /** A folder that a word names may be gone into, or searched, before another word is looked for there. */
  addBase(folder: string): void {
    if (this.bases.has(folder)) return;
    this.bases.set(folder, entriesOf(folder));
    for (const name of this.names) this.addName(name, folder);
  }

  /** Also where nothing lies there for us: it may for the program. */
  checkFolder(folder: string): void {
    if (this.checked.has(folder)) return;
    if (leadsByOwnPlace(folder)) {
      throw new ItemUnboundError('outside', `${folder} is another place for each process: name it from the workspace.`);
    }
    this.checked.add(folder);
  }

  private addName(name: string, base: string): void {
    const { copy, root, cwd } = this.places;
    if (basename(base) === '.git' && base !== this.realCwd && GIT_STATE.test(name)) return;
    const isClimbing = /(^|\/)\.\.(\/|$)/.test(name);
    if (isClimbing && (base !== cwd || cwd === this.realCwd)) refuseDetour(base, name);
    this.addPath(resolve(base, name), base);
    // In the copy of the extension, what leads out of it leads elsewhere.
    if (isClimbing && copy !== undefined && root !== undefined && isInside(base, root)) {
      this.addPath(resolve(copy, relative(root, base), name), copy);
    }
    this.looks += 1;
    if (this.names.size > MANY_NAMES || this.list.size > MANY_PATHS || this.looks > MANY_LOOKS) {
      throw new ItemUnboundError('too-large', 'Its command line has too many words.');
    }
  }

  /** Most words name nothing: that is seen from what lies in the folder, before each suffix is tried. */
  private addPath(path: string, base: string): void {
    const entries = this.bases.get(base);
    const rest = path.startsWith(base + sep) ? fold(path.slice(base.length + 1)) : undefined;
    for (const suffix of SUFFIXES) {
      const [first = ''] = `${rest}${suffix.toUpperCase()}`.split(STEP, 1);
      if (entries === undefined || rest === undefined || entries.has(first)) this.list.add(path + suffix);
    }
  }

  /** A word with the folder of the extension or its copy in it, and as a shell reads it that knows where home is. */
  private readings(word: string): string[] {
    const { root = EXTENSION_PATH, copy = root } = this.places;
    const home = homeFolder() ?? '~';
    const given = [root, copy].map((folder) => word.replaceAll(EXTENSION_PATH, () => folder));
    const read = given.map((text) => text.replace(/~\+(?=\/)/g, '.').replace(AT_HOME, () => home));
    return [...new Set([...given, ...read])];
  }
}

/** Undefined where that cannot be seen. */
function entriesOf(folder: string): ReadonlySet<string> | undefined {
  let open: Dir | undefined;
  try {
    open = opendirSync(folder, { bufferSize: 256 });
    const entries = new Set<string>();
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (entries.add(fold(entry.name)).size > MANY_ENTRIES) return undefined;
    }
    return entries;
  } catch {
    return undefined;
  } finally {
    open?.closeSync();
  }
}

/** On some disks these are the same, such as the long s and the short one. */
function fold(name: string): string {
  return name.normalize('NFKD').toUpperCase();
}

/** A `..` after a link is one place for who reads the text, and another one for who follows the link. */
function refuseDetour(base: string, name: string): void {
  const [text, followed] = [resolve(base, name), isAbsolute(name) ? name : `${base}/${name}`];
  if (realLocation(text) === realLocation(followed)) return;
  throw new ItemUnboundError('outside', `"${name}" goes up from a link, which leads to more than one place.`);
}
