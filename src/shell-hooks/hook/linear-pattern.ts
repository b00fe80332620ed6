import type { RE2JS } from 're2js';
import { describeError } from '../../errors.js';

/** The largest length of a pattern, in characters. A longer pattern takes long to compile. */
const LONGEST = 1_000;
/** The largest number of states of a compiled pattern. Counted repetitions such as `(a{99}){9}` have more. */
const MOST_STATES = 10_000;
/** The largest number of steps of one match. A step is one state at one character, and takes up to 150 ns. */
const MOST_STEPS = 200_000;

/** Syntax that the engine reads in another way than JavaScript does: named references, `\\A`, `\\p{L}`, `\\u{61}`, `[[:alpha:]]`. */
const OTHER_MEANING = /\\(?:[^dDwWsSbBtrnvfxu\W\d_]|u\{)|\[\[:/;

let engine: typeof RE2JS | undefined;
let loading: Promise<void> | undefined;

/**
 * Resolves when the engine for patterns is loaded. Returns undefined if the engine is loaded already, or if no pattern
 * was made.
 */
export function patternsReady(): Promise<void> | undefined {
  return engine === undefined ? loading : undefined;
}

/** Loads the engine once. Without the engine, every pattern matches every text. */
function load(): void {
  loading ??= import('re2js').then(
    (loaded) => {
      engine = loaded.RE2JS;
    },
    () => {},
  );
}

/**
 * A regular expression in JavaScript's syntax that is matched in linear time, because a model writes the text and
 * JavaScript's own engine cannot be interrupted. The pattern matches every text if the engine cannot express it
 * (look-ahead, look-behind, back-reference), or if it is too large. See
 * docs/decisions/0106-rules-of-hooks-match-in-doubt.md.
 */
export class LinearPattern {
  private compiled: { readonly pattern: RE2JS; readonly states: number } | undefined = undefined;
  private problem: string | undefined = undefined;

  /** Throws a SyntaxError if JavaScript refuses the pattern. */
  constructor(private readonly source: string) {
    new RegExp(source);
    if (OTHER_MEANING.test(source.replaceAll('\\\\', '')))
      this.problem = 'it has an escape that its engine reads in another way';
    else if (source.length > LONGEST) this.problem = `it has ${source.length} characters, more than ${LONGEST}`;
    else load();
  }

  /**
   * The reason why the pattern matches every text. Undefined if the pattern is matched as written. The engine must be
   * loaded.
   */
  get unsupported(): string | undefined {
    this.compile();
    return this.compiled === undefined ? (this.problem ?? 'its engine is not loaded') : undefined;
  }

  test(text: string): boolean {
    this.compile();
    if (this.compiled === undefined) return true;
    const { pattern, states } = this.compiled;
    return states * text.length > MOST_STEPS || pattern.matcher(text).find();
  }

  private compile(): void {
    if (engine === undefined || this.compiled !== undefined || this.problem !== undefined) return;
    try {
      const pattern = engine.compile(engine.translateRegExp(this.source));
      const states = pattern.programSize();
      if (states <= MOST_STATES) this.compiled = { pattern, states };
      else this.problem = `its program has ${states} states, more than ${MOST_STATES}`;
    } catch (error) {
      this.problem = describeError(error);
    }
  }
}
